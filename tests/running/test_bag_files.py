import pytest

from queuesmith.base.errors import QueuesmithError
from queuesmith.running import Bag, read_bags


def test_a_file_with_one_command_a_line_is_a_bag_called_after_it(tmp_path):
    path = tmp_path / "grid.txt"
    path.write_text("# a remark\n\necho 1\n  echo 2  \n")
    (bag,) = read_bags([path], share=0.5, retries=2)
    assert bag == Bag("grid", ("echo 1", "echo 2"), share=0.5, retries=2)


def test_toml_has_names_classes_arrivals_and_lengths(tmp_path):
    path = tmp_path / "bags.toml"
    path.write_text(
        '[[bags]]\nname = "a"\nclass = "A"\narrival = 5\nruntime = 2\ncores = 2\n'
        'tasks = ["x", "y"]\n[[bags]]\nname = "b"\ncommand = "f {i}"\ncount = 3\nshare = 0.3\n'
    )
    a, b = read_bags([path], share=0.9)
    assert a == Bag("a", ("x", "y"), "A", 5, 2, 2, 0.9)
    assert b.tasks == ("f 0", "f 1", "f 2") and b.share == 0.3 and b.limit == 1


@pytest.mark.parametrize(("share", "limit"), [(0, 1), (0.3, 3), (0.31, 4), (1, 10)])
def test_a_share_is_rounded_up_to_whole_tasks(share, limit):
    assert Bag("a", ("x",) * 10, share=share).limit == limit


def test_a_bag_comes_back_from_json():
    bag = Bag("a", ("x", "y"), "A", 1.5, None, 2, 0.5, 1, 60.0)
    assert Bag.from_json(bag.to_json()) == bag


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("bags = 3", "must be tables"),
        ("[[bags]]\nname = 'a'\ntasks = []", "bag 'a' has no task"),
        ("[[bags]]\nname = 'a'\ntasks = ['x']\ncount = 3", "it takes no 'count'"),
        ("[[bags]]\nname = 'a'\ncommand = 'x'\ncount = 0", "bag 'a' has no task"),
        ("[[bags]]\nname = 'a'\ntasks = ['']", "has an empty command"),
        ("[[bags]]\nname = 'a'\ntasks = [3]", "has an empty command"),
        ("[[bags]]\nname = 'a'\ntasks = 'x'", "must be a list"),
        ("[[bags]]\nname = 'a'", "must have either 'tasks'"),
        ("[[bags]]\nname = '../a'\ntasks = ['x']", "the bag is called '../a'"),
        ("[[bags]]\ntasks = ['x']", "the bag is called ''"),
        ("[[bags]]\nname = 'a'\ntasks = ['x']\nrun_time = 3", "Did you mean 'runtime'"),
        ("[[bags]]\nname = 'a'\ntasks = ['x']\nruntime = 0", "the runtime of bag 'a' is 0"),
        ("[[bags]]\nname = 'a'\ntasks = ['x']\nshare = 2", "the share of bag 'a' is 2"),
        ("[[bags]]\nname = 'a'\ntasks = ['x']\narrival = -1", "the arrival of bag 'a' is -1"),
        ("[[bags]]\nname = 'a'\ntasks = ['x']\n" * 2, "two bags are called 'a'"),
        ("[[bags]]\nname = 'a'\ncommand = 'x'\ncount = 2000000", "the limit is 1,000,000"),
        ("bags", "not TOML"),
    ],
)
def test_a_slip_is_told_in_a_sentence(tmp_path, text, told):
    path = tmp_path / "bags.toml"
    path.write_text(text)
    with pytest.raises(QueuesmithError) as error:
        read_bags([path])
    assert told in str(error.value)


def test_two_files_of_one_name_are_told(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text("true\n")
    with pytest.raises(QueuesmithError, match="two bags are called 'a'"):
        read_bags([tmp_path / "x" / "a.txt", tmp_path / "y" / "a.txt"])
