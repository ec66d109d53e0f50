"""Traces: what became of an exchange, stage by stage, told to whoever gathers them by OTLP over HTTP."""
