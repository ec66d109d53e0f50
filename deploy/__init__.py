"""Everything that puts the gateway onto a machine. The gateway itself never imports from here."""
