"""The engine `make up` and the end-to-end tests run: which packages, which model, how to launch it."""
