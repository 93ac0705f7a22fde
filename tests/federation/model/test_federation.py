"""Clusters, their nodes and links, and the file that describes them."""

import math

import pytest

from queuesmith.base.errors import ClusterError, WorkloadError
from queuesmith.federation import Federation, FederationCluster

TWO = """
[[cluster]]
name = "north"
nodes = 2
power = 1.0
bandwidth = 1000

[[cluster]]
name = "south"
nodes = 3
power = [0.5, 0.75, 0.5]
bandwidth = inf
"""


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "two.toml"
        path.write_text(text)
        return path

    return write


def test_a_file_says_what_clusters_there_are(file):
    federation = Federation.read(file(TWO))
    assert federation.name == "two"
    assert federation.names == ("north", "south")
    assert federation.nodes == 5
    assert federation.node_power.tolist() == [1.0, 1.0, 0.5, 0.75, 0.5]
    assert federation.bandwidth.tolist() == [1000.0, math.inf]
    assert not federation.alike
    assert federation.places.names[3] == "south:1"
    assert federation.cores == 5


def test_nodes_of_one_cluster_and_power_form_a_group(file):
    federation = Federation.read(file(TWO))
    assert [nodes.tolist() for nodes in federation.group_members] == [[0, 1], [3], [2, 4]]
    assert federation.group_cluster.tolist() == [0, 1, 1]
    assert federation.group_power.tolist() == [1.0, 0.75, 0.5]
    assert federation.node_group.tolist() == [0, 0, 2, 1, 2]
    assert federation.levels.tolist() == [1.0, 0.75, 0.5]
    assert federation.group_level.tolist() == [0, 1, 2]


def test_groups_are_the_clusters_where_nodes_are_alike():
    clusters = [FederationCluster(name, 4, power) for name, power in (("a", 0.5), ("b", 1.0))]
    federation = Federation(clusters)
    assert federation.alike
    assert federation.group_cluster.tolist() == [0, 1]
    assert federation.group_level.tolist() == [1, 0]


def test_what_is_written_reads_back(tmp_path):
    odd = FederationCluster('the "odd"\\\t one', 2, [0.1 + 0.2, 1 / 3], math.inf)
    federation = Federation([odd, FederationCluster("b", 1, 0.7, 12.5)])
    federation.write(tmp_path / "f.toml")
    assert Federation.read(tmp_path / "f.toml").clusters == federation.clusters


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("power = 1.0", "power = 0", "power 0"),
        ("power = 1.0", "power = -1.0", "power -1.0"),
        ("power = 1.0", "power = nan", "a number"),
        ("power = 1.0", 'power = "fast"', "a number"),
        ("power = 1.0", "power = true", "a number"),
        ("power = 1.0", "power = [1.0]", "1 power for 2 nodes"),
        ("power = 1.0", "power = [1.0, 0.0]", "power 0.0"),
        ("bandwidth = 1000", "bandwidth = 0", "link of cluster 'north'"),
        ("bandwidth = 1000", "bandwidth = -5", "link of cluster 'north'"),
        ("bandwidth = 1000", "bandwidth = 'wide'", "link of cluster 'north'"),
        ("nodes = 2", "nodes = 0", "0 nodes"),
        ("nodes = 2", "nodes = 2.5", "2.5 nodes"),
        ("nodes = 2", "nodes = 99999999", "nodes"),
        ("nodes = 2", "nodes = 2\ncores = 8", "there is no key 'cores'"),
        ("nodes = 2", "", "no 'nodes'"),
        ('name = "north"', 'name = ""', "needs a name"),
        ('name = "north"', 'name = "south"', "two clusters called 'south'"),
        ('[[cluster]]\nname = "north"', 'switch = 1\n[[cluster]]\nname = "north"', "key 'switch'"),
        ("nodes = 2", "nodes = ", "not TOML"),
    ],
)
def test_a_wrong_file_gets_one_clear_sentence(file, old, new, words):
    with pytest.raises(ClusterError, match="(?s)" + words.replace("[", r"\[")):
        Federation.read(file(TWO.replace(old, new, 1)))


@pytest.mark.parametrize(
    "text",
    [
        TWO.replace("nodes = 2", f"nodes = {'7' * 5000}"),
        TWO.replace("nodes = 2", f"nodes = 0x{'f' * 5000}"),
        TWO.replace("power = 1.0", f"power = {'9' * 400}"),
        TWO.replace("power = 1.0", f"power = {'[' * 20_000}1{']' * 20_000}"),
    ],
)
def test_endless_digits_and_brackets_get_one_sentence(file, text):
    with pytest.raises(ClusterError, match="too deeply or has a number of too many digits"):
        Federation.read(file(text))


def test_one_table_instead_of_a_list_is_explained(file):
    with pytest.raises(ClusterError, match=r"\[\[cluster\]\]"):
        Federation.read(file('[cluster]\nname = "a"\n'))


def test_a_federation_without_clusters_is_refused(file):
    with pytest.raises(ClusterError, match="no cluster"):
        Federation.read(file("# nothing\n"))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(WorkloadError, match="there is no file"):
        Federation.read(tmp_path / "none.toml")
