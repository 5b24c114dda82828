"""What any program needs: files, errors, the machine, compiled kernels, processes."""
