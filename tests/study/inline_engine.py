"""An engine that computes in this process, at once, and can be told to lose work."""

import pickle
from concurrent.futures import BrokenExecutor, Future

from queuesmith.study.engines import Engine


class InlineEngine(Engine):
    name = "inline"

    def __init__(self, workers=1, lose=()):
        self._workers = workers
        self._lose = set(lose)
        self.submitted = 0

    @property
    def workers(self):
        return self._workers

    def close(self):
        pass

    def submit(self, work, *arguments):
        future = Future()
        number = self.submitted
        self.submitted += 1
        try:
            if number in self._lose:
                raise BrokenExecutor("the worker was killed")
            # As between processes: what cannot travel is noticed.
            here = pickle.loads(pickle.dumps((work, arguments)))
            future.set_result(pickle.loads(pickle.dumps(here[0](*here[1]))))
        except BaseException as error:
            future.set_exception(error)
        return future
