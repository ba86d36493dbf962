"""The run folder and the datasets: the only code that knows paths and file formats."""
