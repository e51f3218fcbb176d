"""The cellar: errors, registries, settings, memory, threads, files, random variates."""
