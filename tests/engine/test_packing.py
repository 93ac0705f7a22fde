"""Jobs laid out for replays: what is made once, and what is not kept for ever."""

import gc
import weakref

import numpy as np

import queuesmith as qs
from queuesmith.engine.packing import KEPT_ORDERS, Packed


def order_of(alpha):
    return qs.Policy.parse(f"ranked(alpha={alpha})").order


def test_places_of_an_order_are_made_once():
    packed = Packed(qs.demo_workload(), qs.Cluster(64))
    assert packed.rank(order_of(0.1)) is packed.rank(order_of(0.1))


def test_who_tries_hundreds_of_orders_does_not_fill_the_memory():
    packed = Packed(qs.demo_workload(), qs.Cluster(64))
    places = packed.rank(order_of(0.5))
    before, kept = places.copy(), weakref.ref(places)
    del places
    for number in range(KEPT_ORDERS):
        packed.rank(order_of(number))
    gc.collect()
    assert kept() is None
    assert np.array_equal(packed.rank(order_of(0.5)), before)
