"""Whether ReTrace will pay, told from a log of the traffic before anything is installed.

- _line      one request of a log, as far as its line tells
- _ours, _bodies, _litellm, _nginx   the formats that are understood, one a file
- log        a file becomes lines: its format is guessed, it is streamed, what can't be read is counted and named
- tally      what all lines come to
- likeness   what earlier requests could have given back to later ones, replayed as the gateway would have done
- memory     what the captures take
- verdict    what follows from all of it
- wording    the same in words
"""
