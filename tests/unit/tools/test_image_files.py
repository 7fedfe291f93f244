from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image as Pictures

from keen_tui.domain.errors import ImageRefused
from keen_tui.tools.files.image_files import MOST_BYTES, MOST_PIXELS, named_images, read_image, usable_image
from tests.support.images import opened, png, written


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("see @shot.png, please", ("shot.png",)),
        ("(@a.PNG) @b.jpeg. @c.gif! @d.webp? `@e.jpg`", ("a.PNG", "b.jpeg", "c.gif", "d.webp", "e.jpg")),
        ('@"my shot (1).png" and @"my shot (1).png"', ("my shot (1).png",)),
        ("shot.png me@home.png @notes.txt @ @png", ()),
        ("@icon@2x.png, @@a.png", ("icon@2x.png",)),
        ("@/tmp/a.png\n@~/b.png", ("/tmp/a.png", "~/b.png")),
    ],
)
def test_what_a_text_names(text: str, names: tuple[str, ...]) -> None:
    assert named_images(text) == names


@pytest.mark.parametrize(
    ("format", "media_type"),
    [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("GIF", "image/gif"), ("WEBP", "image/webp")],
)
def test_a_small_image_is_sent_as_it_is(tmp_path: Path, format: str, media_type: str) -> None:
    content = written(format)
    (tmp_path / "shot").write_bytes(content)
    image = read_image(tmp_path, "shot")
    assert (image.content, image.media_type) == (content, media_type)
    assert (image.width, image.height) == (40, 30)


def test_a_large_one_becomes_smaller_and_keeps_its_shape() -> None:
    image = usable_image(png(4_000, 2_000), "wide.png")
    assert (image.width, image.height) == (MOST_PIXELS, MOST_PIXELS // 2)
    assert opened(image.content).size == (image.width, image.height)


def test_a_photo_that_becomes_smaller_stands_upright() -> None:
    turned = Pictures.Exif()
    turned[0x0112] = 6
    image = usable_image(written("JPEG", 3_000, 1_000, exif=turned), "photo.jpg")
    assert image.height == MOST_PIXELS > image.width
    assert image.media_type == "image/jpeg"


def test_of_one_that_moves_the_first_picture_is_sent() -> None:
    file = BytesIO()
    pictures = [Pictures.new("RGB", (30, 20), colour) for colour in ("red", "green", "blue")]
    pictures[0].save(file, "GIF", save_all=True, append_images=pictures[1:])
    image = usable_image(file.getvalue(), "moving.gif")
    still = opened(image.content)
    assert getattr(still, "n_frames", 1) == 1
    [(_, colour)] = still.convert("RGB").getcolors() or []
    assert colour in ((255, 0, 0), (254, 0, 0)), "it is red"


def test_one_of_noise_is_sent_as_a_photo() -> None:
    noise = Pictures.effect_noise((2_400, 2_400), 200).convert("RGB")
    file = BytesIO()
    noise.save(file, "PNG")
    image = usable_image(file.getvalue(), "noise.png")
    assert image.media_type == "image/jpeg" or len(image.content) <= MOST_BYTES
    assert len(image.content) <= MOST_BYTES


def test_too_many_pixels_are_not_unpacked() -> None:
    bomb = png(1, 1)
    width_and_height = (60_000).to_bytes(4, "big") * 2
    with pytest.raises(ImageRefused):
        usable_image(bomb[:16] + width_and_height + bomb[24:], "bomb.png")


@pytest.mark.parametrize("cut", range(0, 80, 7))
def test_a_damaged_file_is_refused_with_a_sentence(cut: int) -> None:
    with pytest.raises(ImageRefused, match=r"^a\.png is(n't)? "):
        usable_image(png()[:cut], "a.png")


def test_what_stands_in_a_name_can_not_act(tmp_path: Path) -> None:
    with pytest.raises(ImageRefused) as refused:
        read_image(tmp_path, "\x1b]0;x\x07.png")
    assert "\x1b" not in str(refused.value)


def test_a_photo_with_damaged_exif_is_sent_all_the_same() -> None:
    exif = Pictures.Exif()
    exif[0x0112] = 6
    whole = exif.tobytes()
    for end in range(len(whole)):
        image = usable_image(written("JPEG", 1_700, 20, exif=whole[:end]), "photo.jpg")
        assert {image.width, image.height} <= {MOST_PIXELS, 18, 19}


@pytest.mark.parametrize("format", ["PNG", "GIF"])
def test_small_print_in_a_picture_with_a_palette_stays(format: str) -> None:
    striped = Pictures.new("P", (3_200, 40))
    striped.putpalette([255, 255, 255, 0, 0, 0])
    for left in range(0, 3_200, 8):
        striped.paste(1, (left, 0, left + 1, 40))
    file = BytesIO()
    striped.save(file, format)
    smaller = opened(usable_image(file.getvalue(), "page").content).convert("L")
    row = smaller.tobytes()[10 * MOST_PIXELS :][:MOST_PIXELS]
    darkest = [min(row[left : left + 8]) for left in range(0, MOST_PIXELS - 8, 8)]
    assert max(darkest) < 240, "each stripe left a trace"
