"""What asks the same lies near, in numbers and in bits; nothing that a client may send breaks it."""

from __future__ import annotations

import itertools
import statistics
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from classifiers.encoder import FILES, WIDTH, Encoder, pack
from classifiers.manifest import ModelFault
from tests.classifiers.models import ODD, SAME, apart, copy, encoder, replace

TEXTS = [text for pair in SAME for text in pair]


def test_each_text_has_a_vector_of_length_one() -> None:
    vectors = encoder().vectors(TEXTS)
    assert vectors.shape == (len(TEXTS), WIDTH)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_have_no_vectors() -> None:
    assert encoder().vectors([]).shape == (0, WIDTH)
    assert encoder().both([])[1] == []


def test_another_wording_is_nearer_than_nearly_all_other_questions() -> None:
    vectors = encoder().vectors(TEXTS)
    alike = vectors @ vectors.T
    places = [int((row > row[number ^ 1]).sum()) - 1 for number, row in enumerate(alike)]  # not counting itself
    assert statistics.mean(places) < 1.5, places
    like = [float(alike[n, n + 1]) for n in range(0, len(TEXTS), 2)]
    unlike = [float(alike[a, b]) for a, b in itertools.combinations(range(len(TEXTS)), 2) if a // 2 != b // 2]
    assert statistics.median(like) > np.percentile(unlike, 99)


def test_codes_of_another_wording_differ_in_fewer_bits() -> None:
    codes = encoder().both(TEXTS)[1]
    like = [apart(codes[n], codes[n + 1]) for n in range(0, len(codes), 2)]
    unlike = [apart(codes[a], codes[b]) for a, b in itertools.combinations(range(len(codes)), 2) if a // 2 != b // 2]
    assert statistics.median(like) < np.percentile(unlike, 2)
    assert 24 < statistics.mean(unlike) < 40


@pytest.mark.parametrize(
    ("one", "other"),
    [("How do I get a refund?", "how do i get a REFUND"), ("怎么退款？", "怎么退款。。"), ("Ｔ＋０ 交割", "t+0 交割")],
)
def test_case_width_and_marks_change_no_bit(one: str, other: str) -> None:
    assert encoder().code(one) == encoder().code(other)


def test_a_code_does_not_hang_on_the_other_texts_of_a_batch() -> None:
    assert encoder().both([*TEXTS, "word " * 200])[1][:-1] == [encoder().code(text) for text in TEXTS]


@pytest.mark.parametrize("text", ODD, ids=lambda text: repr(text[:9]))
def test_nothing_breaks_it(text: str) -> None:
    vectors, codes = encoder().both([text, "refund"])
    assert np.isfinite(vectors).all()
    assert 0 <= codes[0] < 1 << 64
    assert encoder().code(text) == codes[0]


def test_threads_get_the_answers_they_would_get_alone() -> None:
    alone = [encoder().code(text) for text in TEXTS]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(encoder().code, TEXTS * 20)) == alone * 20


def test_the_first_number_is_the_highest_bit() -> None:
    signs = -np.ones((2, 64), np.float32)
    signs[0, 0] = signs[1, 63] = 1
    assert pack(signs) == [1 << 63, 1]


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_model_is_a_fault_even_if_the_manifest_agrees(tmp_path: Path, name: str) -> None:
    folder = copy(tmp_path)
    replace(folder, name, b"not a model")
    with pytest.raises(ModelFault, match=rf"{name}: can't be loaded"):
        Encoder(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_never_loaded(tmp_path: Path, name: str) -> None:
    folder = copy(tmp_path)
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(ModelFault, match=rf"{name}: has the right size, but its sha256 is not"):
        Encoder(folder)
