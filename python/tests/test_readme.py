"""Every example of the README does what the README shows."""

import doctest
import pathlib

README = pathlib.Path(__file__).parents[1] / "README.md"


def test_examples_print_what_the_readme_shows():
    # A fence would be taken for something that is printed.
    lines = ["" if line.startswith("```") else line for line in README.read_text().splitlines()]
    examples = doctest.DocTestParser().get_doctest("\n".join(lines) + "\n", {}, "README.md", str(README), 0)
    assert len(examples.examples) > 20
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    said = []
    failed = runner.run(examples, out=said.append)
    assert failed.failed == 0, "".join(said)


def test_the_first_commands_are_two():
    text = README.read_text().split("```sh\n")[1].split("```")[0]
    assert len(text.strip().splitlines()) == 2
