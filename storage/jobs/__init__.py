"""The job queue, the worker that runs its jobs, and the scheduler."""
