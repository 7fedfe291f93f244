from __future__ import annotations

import json

from msgspec import convert

from keen_tui.domain.events import Event, ImagesAttached, ResourcesAttached, Steered
from keen_tui.domain.messages import AttachedResource, Image
from keen_tui.export import as_html, as_json, as_markdown
from keen_tui.export.document import ExportSource
from tests.support.story import started

IMAGE = Image(name='a"<.png', media_type='image/png"><b', width=4, height=2, content=b"abc")


def source(*events: Event) -> ExportSource:
    return ExportSource(
        events=events, title="A session", session_id="s-1", workspace="/w", began=0.0, model="m"
    )


def test_an_image_goes_with_the_message_that_names_it() -> None:
    events = (
        started(1, "see"),
        ImagesAttached(turn=1, images=(IMAGE,)),
        Steered(turn=1, step=1, text="and this"),
        ImagesAttached(turn=1, images=(IMAGE, IMAGE)),
    )
    read_back = json.loads(as_json(source(*events)))
    [message] = read_back["messages"]
    assert convert(message["images"], tuple[Image, ...]) == (IMAGE,)
    attached = [each for each in read_back["activity"] if each["type"] == "images_attached"]
    assert [each["images"] for each in attached] == [[IMAGE.name], [IMAGE.name] * 2]


def test_pages_hold_the_image_itself_and_nothing_in_its_name_acts() -> None:
    events = source(started(1, "see"), ImagesAttached(turn=1, images=(IMAGE,)))
    page = as_html(events)
    assert 'src="data:image/png&quot;&gt;&lt;b;base64,YWJj"' in page
    assert "<b;" not in page
    assert "4 × 2, 3 B" in as_markdown(events)


def test_a_resource_is_exported_by_its_name_and_not_by_its_text() -> None:
    read = AttachedResource(server="talk", uri="a://<b>\x1b[2J", text="secret", bytes=9, images=(IMAGE,))
    events = source(started(1, "see"), ResourcesAttached(turn=1, resources=(read,)))
    for written in (as_markdown(events), as_html(events), as_json(events)):
        assert "secret" not in written
        assert "\x1b" not in written
        assert "YWJj" not in written
    assert "resource talk:a://&lt;b&gt;, 9 B" in as_html(events)
    attached = [each for each in json.loads(as_json(events))["activity"] if "resources" in each]
    assert attached[0]["resources"] == [{"server": "talk", "uri": read.uri, "bytes": 9}]
