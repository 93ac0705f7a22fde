"""An engine of threads in this process, which can be told to lose work before it begins."""

from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor

from queuesmith.study.engines import Engine


class ThreadEngine(Engine):
    name = "threads"

    def __init__(self, workers=4, lose=()):
        self._threads = ThreadPoolExecutor(workers)
        self._workers = workers
        self._lose = set(lose)
        self.submitted = []

    @property
    def workers(self):
        return self._workers

    def submit(self, work, *arguments):
        self.submitted.append(arguments[0])
        if len(self.submitted) - 1 in self._lose:
            future = Future()
            future.set_exception(BrokenExecutor("the worker was killed"))
            return future
        return self._threads.submit(work, *arguments)

    def close(self):
        self._threads.shutdown()
