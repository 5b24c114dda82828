"""A grid on an FPGA: a top level with few pins, and the tools that place and route it."""
