"""The native module. It is no part of what the package promises: use the functions of `leakgauge`."""

from typing import Any

from . import DataError as DataError
from . import Error as Error
from . import FileError as FileError
from . import GrammarError as GrammarError
from . import InternalError as InternalError
from . import OptionError as OptionError

def __getattr__(name: str) -> Any: ...
