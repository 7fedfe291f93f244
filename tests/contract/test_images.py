"""Images that a message names go with it, at the level of the wire, on every API."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from pathlib import Path

import pytest

from keen_tui.demo.script import Answer, Break, Call, HttpAnswer, RecordedRequest, Reply, Say, Seen
from keen_tui.domain.events import (
    ImagesAttached,
    Notice,
    Steered,
    ToolStarted,
    TurnDone,
    TurnError,
    TurnIncomplete,
)
from keen_tui.domain.messages import Image, StepReply
from keen_tui.memory.projection import UserText
from keen_tui.providers.wire.provider import StepRequest
from tests.support import agent
from tests.support.agent import QUICK_RETRIES, AtWork, Bench
from tests.support.images import png

CUT = Reply([Say("This sentence is cut in the mid")], broken=Break("reset"))
OK = Reply([Say("Ok.")])
NO_IMAGES = HttpAnswer(500, {"error": {"message": "image input is not supported"}})
READ = Call("read_file", {"path": "a.txt"})
WAIT = Call("bash", {"command": "until [ -e gate ]; do sleep 0.02; done; echo waited"})


def sent(content: bytes) -> str:
    return b64encode(content).decode()


def notices(bench: Bench) -> list[str]:
    return [event.text for event in bench.log.of(Notice)]


async def test_it_goes_with_its_message_in_this_request_and_in_later_ones(
    tmp_path: Path, at_work: AtWork
) -> None:
    blue, red = png(), png(20, 10, "#903020")
    (tmp_path / "blue.png").write_bytes(blue)
    (tmp_path / "red one.png").write_bytes(red)
    async with at_work([OK, OK], tmp_path) as bench:
        text = 'what is on (@blue.png) and @"red one.png"?'
        assert isinstance(await bench.ask(text), TurnDone)
        with_both = Seen("user", text, images=(sent(blue), sent(red)))
        assert bench.messages() == [with_both]
        (tmp_path / "blue.png").unlink()
        await bench.ask("and now?")
        assert bench.messages() == [with_both, Seen("assistant", "Ok."), Seen("user", "and now?")]
        assert [image.name for image in bench.log.of(ImagesAttached)[0].images] == ["blue.png", "red one.png"]
        assert not notices(bench)
        bench.assert_valid_requests()


async def test_a_turn_that_goes_on_sends_the_image_that_its_message_had(
    tmp_path: Path, at_work: AtWork
) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "shot.png").write_bytes(png())
    async with at_work([HttpAnswer(401), Reply([READ]), CUT, OK], tmp_path) as bench:
        assert isinstance(await bench.ask("see @shot.png"), TurnError)
        (tmp_path / "shot.png").write_bytes(png(80, 80))
        assert isinstance(await bench.retry(), TurnIncomplete)
        (tmp_path / "shot.png").unlink()
        assert isinstance(await bench.retry(), TurnDone)
        assert bench.messages()[0] == Seen("user", "see @shot.png", images=(sent(png()),))
        assert len(bench.log.of(ImagesAttached)) == 1
        bench.assert_valid_requests()


async def test_a_message_whose_turn_ended_before_its_image_was_read_gets_it_with_the_next_one(
    tmp_path: Path, at_work: AtWork
) -> None:
    (tmp_path / "shot.png").write_bytes(png())
    async with at_work([OK, OK], tmp_path) as bench:
        bench.session.submit("see @shot.png")
        bench.session.stop()
        assert isinstance(await bench.log.wait_for_end(), TurnError)
        assert not bench.log.of(ImagesAttached)
        await bench.ask("and?")
        assert bench.messages() == [Seen("user", "see @shot.png\n\nand?", images=(sent(png()),))]
        [attached] = bench.log.of(ImagesAttached)
        assert attached.turn == 1


async def test_one_that_is_handed_in_stands_in_the_trace_and_then_in_the_conversation(
    tmp_path: Path, at_work: AtWork
) -> None:
    (tmp_path / "shot.png").write_bytes(png())
    async with at_work([Reply([WAIT]), CUT, OK, OK], tmp_path) as bench:
        bench.session.submit("begin")
        await bench.log.wait_for(ToolStarted)
        bench.session.steer("like @shot.png")
        bench.session.steer("no, wait")
        (tmp_path / "gate").touch()
        assert isinstance(await bench.log.wait_for_end(), TurnIncomplete)
        assert bench.messages()[-1] == Seen("user", "like @shot.png\n\nno, wait", images=(sent(png()),))
        await bench.ask("and?")
        handed_in = "like @shot.png\n\nno, wait\n\nand?"
        assert bench.messages()[-1] == Seen("user", handed_in, images=(sent(png()),))
        await bench.ask("sure?")
        first = Seen("user", "begin\n\nlike @shot.png\n\nno, wait\n\nand?", images=(sent(png()),))
        assert bench.messages()[0] == first
        assert [event.text for event in bench.log.of(Steered)] == ["like @shot.png", "no, wait"]
        with_images = [message.text for message in bench.session.conversation if message.images]
        assert with_images == ["like @shot.png"]
        bench.assert_valid_requests()


async def test_what_can_not_go_with_a_message_is_told_and_the_message_goes(
    tmp_path: Path, at_work: AtWork
) -> None:
    (tmp_path / "bent.png").write_bytes(png()[:60])
    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "folder.png").mkdir()
    async with at_work([OK], tmp_path) as bench:
        text = "@bent.png @text.png @folder.png @gone.png @notes.txt me@home.png"
        assert isinstance(await bench.ask(text), TurnDone)
        assert bench.messages() == [Seen("user", text)]
        assert notices(bench) == [
            "bent.png is damaged: it can't be shown to a model. The model gets only the path.",
            "text.png isn't a PNG, JPEG, GIF or WebP image. The model gets only the path.",
            "folder.png isn't a file. The model gets only the path.",
            "gone.png is not there. The model gets only the path.",
        ]


async def test_a_server_that_takes_none_is_asked_without_from_then_on(
    tmp_path: Path, at_work: AtWork
) -> None:
    (tmp_path / "shot.png").write_bytes(png())
    async with at_work([NO_IMAGES, OK, OK], tmp_path) as bench:
        assert isinstance(await bench.ask("see @shot.png"), TurnDone)
        without = "see @shot.png\n\n[1 image not sent, since this model takes none: shot.png]"
        assert bench.messages() == [Seen("user", without)]
        assert notices(bench) == ["scripted doesn't take images: it got only their paths."]
        await bench.ask("again @shot.png")
        assert bench.messages()[-1] == Seen("user", "again @shot.png")
        assert notices(bench)[1:] == ["scripted doesn't take images: it gets only the path."]
        assert len(bench.server.requests) == 3


async def test_that_a_server_takes_none_is_told_once_also_when_its_reply_is_cut(
    tmp_path: Path, at_work: AtWork
) -> None:
    (tmp_path / "shot.png").write_bytes(png())
    async with at_work([NO_IMAGES, CUT, OK], tmp_path, retries=QUICK_RETRIES) as bench:
        assert isinstance(await bench.ask("see @shot.png"), TurnDone)
        assert notices(bench) == ["scripted doesn't take images: it got only their paths."]


async def test_one_that_was_handed_in_is_left_out_for_a_server_that_takes_none(
    tmp_path: Path, at_work: AtWork
) -> None:
    (tmp_path / "shot.png").write_bytes(png())
    async with at_work([Reply([WAIT]), NO_IMAGES, CUT, OK], tmp_path) as bench:
        bench.session.submit("begin")
        await bench.log.wait_for(ToolStarted)
        bench.session.steer("like @shot.png")
        (tmp_path / "gate").touch()
        assert isinstance(await bench.log.wait_for_end(), TurnIncomplete)
        without = "like @shot.png\n\n[1 image not sent, since this model takes none]"
        assert bench.messages()[-1] == Seen("user", without)
        assert isinstance(await bench.retry(), TurnDone)
        assert bench.messages()[-1] == Seen("user", without)
        bench.assert_valid_requests()


async def test_one_in_pending_work_is_left_out_for_a_model_that_takes_none(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(png())
    async with agent.at_work([Reply([WAIT]), CUT, OK], tmp_path) as bench:
        bench.session.submit("begin")
        await bench.log.wait_for(ToolStarted)
        bench.session.steer("like @shot.png")
        (tmp_path / "gate").touch()
        assert isinstance(await bench.log.wait_for_end(), TurnIncomplete)
        bench.switch(model="blind", takes_images=False)
        assert isinstance(await bench.retry(), TurnDone)
        without = "like @shot.png\n\n[1 image not sent, since this model takes none]"
        assert bench.messages()[-1] == Seen("user", without)


async def test_two_requests_that_find_out_at_once_that_there_are_no_images_are_both_answered(
    tmp_path: Path, at_work: AtWork
) -> None:
    def answer(request: RecordedRequest) -> Answer:
        return NO_IMAGES if sent(png()).encode() in request.raw else OK

    image = Image(name="shot.png", media_type="image/png", width=40, height=30, content=png())
    request = StepRequest(system="", parts=(UserText("see @shot.png", 1, (image,)),), tools=())
    async with at_work(answer, tmp_path) as bench:
        await asyncio.to_thread(bench.provider.load)

        async def reply() -> str:
            parts = [part async for part in bench.provider.stream_step(request)]
            return "".join(part.text for part in parts if isinstance(part, StepReply))

        assert await asyncio.gather(*(reply() for _ in range(4))) == ["Ok."] * 4


@pytest.mark.parametrize(
    "refusal",
    [
        HttpAnswer(429, {"error": {"message": "Rate limit reached for scripted-vision, scripted"}}),
        HttpAnswer(503, {"error": {"message": "The image service is unavailable"}}),
        HttpAnswer(403, {"error": {"message": "This key may not send images"}}),
        HttpAnswer(400, {"error": {"message": "Unsupported image. Use one of these formats"}}),
        HttpAnswer(400, {"error": {"message": "too many images: 3"}}),
        HttpAnswer(400, {"error": {"message": "At most 1 image(s) may be provided in one prompt"}}),
    ],
)
async def test_other_refusals_say_nothing_about_images(
    tmp_path: Path, at_work: AtWork, refusal: HttpAnswer
) -> None:
    (tmp_path / "shot.png").write_bytes(png())
    async with at_work([refusal, OK], tmp_path) as bench:
        assert isinstance(await bench.ask("see @shot.png"), TurnError)
        assert isinstance(await bench.retry(), TurnDone)
        assert bench.messages() == [Seen("user", "see @shot.png", images=(sent(png()),))]


async def test_an_image_that_the_server_can_not_use_fails_the_turn(tmp_path: Path, at_work: AtWork) -> None:
    too_large = HttpAnswer(400, {"error": {"message": "image exceeds 5 MB maximum"}})
    (tmp_path / "shot.png").write_bytes(png())
    async with at_work([too_large], tmp_path) as bench:
        end = await bench.ask("see @shot.png")
        assert isinstance(end, TurnError)
        assert "image exceeds 5 MB maximum" in end.detail
        bench.session.discard()
        assert bench.session.conversation == ()


async def test_a_model_that_is_known_to_take_none_gets_the_images_of_before_by_name(
    tmp_path: Path, at_work: AtWork
) -> None:
    (tmp_path / "shot.png").write_bytes(png())
    async with at_work([OK, OK], tmp_path) as bench:
        await bench.ask("see @shot.png")
        bench.switch(model="blind", takes_images=False)
        await bench.ask("and?")
        without = "see @shot.png\n\n[1 image not sent, since this model takes none: shot.png]"
        assert bench.messages()[0] == Seen("user", without)


async def test_it_counts_as_the_tokens_of_an_image_and_not_as_text(tmp_path: Path, at_work: AtWork) -> None:
    noisy = b"".join(png(9, 9, f"#{number:06x}") for number in range(0, 200_000, 1_000))
    (tmp_path / "shot.png").write_bytes(png() + noisy)
    async with at_work([OK, Reply([WAIT]), CUT], tmp_path) as bench:
        await bench.ask("see @shot.png")
        (tmp_path / "gate").touch()
        parts = {part.turn: part.sizes[0] for part in (await bench.session.context()).parts}
        assert parts[1].bytes > 20_000 and parts[1].tokens < 60
        assert "image shot.png, 40 × 30" in parts[1].text
        bench.session.submit("go on")
        bench.session.steer("like @shot.png")
        assert isinstance(await bench.log.wait_for_end(2), TurnIncomplete)
        report = await bench.session.context()
        [pending] = [part.sizes[0] for part in report.parts if part.kind == "pending"]
        assert pending.bytes > 20_000 and pending.tokens < 2_000
        assert len(pending.text) < 3_000, "of an image only the beginning is shown"


async def test_images_that_are_too_large_together_are_named_only(tmp_path: Path, at_work: AtWork) -> None:
    padding = b"\0" * 3_400_000
    names = [f"{number}.png" for number in range(6)]
    for name in names:
        (tmp_path / name).write_bytes(png() + padding)
    async with at_work([OK], tmp_path) as bench:
        await bench.ask(" ".join(f"@{name}" for name in names))
        assert [image.name for image in bench.session.conversation[0].images] == names[:4]
        told = [notice.partition(" the images")[0] for notice in notices(bench)]
        assert told == ["With 4.png", "With 5.png"]
