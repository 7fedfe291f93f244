"""The part of the workspace that helps to write a message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from textual import events, on
from textual.widgets import TextArea

from keen_tui.frontends.shared.port import FilesPort
from keen_tui.frontends.tui.keys.keymap import letters_of
from keen_tui.frontends.tui.widgets.completing import (
    Completion,
    Wanted,
    file_completions,
    fitting_commands,
    wanted,
)
from keen_tui.frontends.tui.widgets.completion_list import CompletionList
from keen_tui.frontends.tui.widgets.composer import Prompt
from keen_tui.frontends.tui.workspace.pasting_actions import PastingActions

_MOST_FILES: Final = 50


class ComposingActions(PastingActions):
    """Completes commands and paths while they are written, and opens the editor.

    `_offered` is the word that the list is for, `_sought` the one that files are looked for, `_refused` the
    place of one whose list was closed. Enter pressed before the list has caught up with the letters counts
    when it has.
    """

    _offered: Wanted | None = None
    _sought: Wanted | None = None
    _refused: tuple[int, int] | None = None
    _wish: Literal["", "write", "send"] = ""

    def on_mount(self) -> None:
        self.prompt.choose = self._choose_completion
        self.prompt.take_choice = lambda: self.take_completion(sends=True)

    def turn_to_prompt(self, key: events.Key) -> None:
        """Move the focus to where one writes for a letter that does nothing where it is."""
        place, letter = self.focused_place, key.character or ""
        is_free = place in ("transcript", "panels")
        if is_free and key.is_printable and letter.strip() and letter not in letters_of(place):
            if self.question_pane.question:
                self.question_pane.take_focus()
            else:
                self.set_focus(self.prompt)

    def action_find_message(self) -> None:
        """Look for an earlier message by the words that are written, and those that will be."""
        self.close_completions(for_now=True)
        self.begin_search()

    def action_edit_draft(self) -> None:
        """Go on writing in the user's own editor."""
        self.run_worker(self._edit_draft(), name="editor", group="editor", exclusive=True)

    def take_completion(self, *, sends: bool = False) -> bool:
        """Write what is chosen; False: nothing is, or it stands there already. With `sends` a command that
        is whole is run."""
        if self.is_searching:
            return self.take_found()
        word = self._word
        if word and word != self._offered:
            if word == self._sought:
                self._wish = "send" if sends else "write"
                return True
            if word.kind == "command" and self.completions.is_open:
                self._complete_command(word)
        chosen = self.completions.chosen
        self.close_completions(for_now=True)
        if word is None or chosen is None or (sends and chosen.label.split(" ")[0] == word.written):
            return False
        self.prompt.complete(word.start, word.end, chosen.text)
        if sends and word.kind == "command" and chosen.is_whole:
            self.prompt.action_send()
        return True

    def close_completions(self, *, for_now: bool = False) -> bool:
        """Hide the list, until another word is begun if not only `for_now`. False: it was hidden."""
        if self.is_searching:
            self.leave_search()
            return True
        if not for_now and self._offered and self.completions.is_open:
            self._refused = (self.prompt.cursor_location[0], self._offered.start)
        self._offered, self._sought, self._wish = None, None, ""
        self.workers.cancel_group(self, "files")
        return self.completions.close()

    @on(TextArea.Changed, "#prompt")
    def _follow_writing(self) -> None:
        self.keep_draft_soon()
        if self.is_searching:
            self.show_found()
            return
        word = self._word if self.prompt.is_typed else None
        place = word and (self.prompt.cursor_location[0], word.start)
        if place != self._refused:
            self._refused = None
        if word is None or place == self._refused:
            self.close_completions(for_now=True)
        elif word.kind == "command":
            self._complete_command(word)
        elif self.files and word not in (self._offered, self._sought):
            self._sought, self._wish = word, ""
            self.run_worker(self._complete_file(word, self.files), group="files", exclusive=True)

    @on(TextArea.SelectionChanged, "#prompt")
    def _follow_cursor(self) -> None:
        """The cursor may leave the word while the text stays as it is."""
        if self._offered and self._word is None:
            self.close_completions(for_now=True)

    @on(Prompt.SearchWanted)
    def _search_from_prompt(self) -> None:
        self.action_find_message()

    @on(CompletionList.Taken)
    def _take_clicked(self, message: CompletionList.Taken) -> None:
        word = self._word
        if self.is_searching:
            self.take_found()
        elif word:
            self.close_completions(for_now=True)
            self.prompt.complete(word.start, word.end, message.completion.text)

    @property
    def _word(self) -> Wanted | None:
        """The unfinished word at the cursor."""
        start, end = self.prompt.selection
        if start != end:
            return None
        row, column = end
        return wanted(self.prompt.document.get_line(row), column, is_first=row == 0)

    def _choose_completion(self, step: int) -> bool:
        if not self.completions.is_open:
            return False
        self.completions.move(step)
        return True

    def _complete_command(self, word: Wanted) -> None:
        self._offer(word, fitting_commands(word.letters, self.commands.offered))

    async def _complete_file(self, word: Wanted, files: FilesPort) -> None:
        async for paths in files.matching(word.letters, _MOST_FILES):
            if self._word != word:
                return
            self._offer(word, file_completions(paths))
            if self._wish and paths:
                break
        self._sought = None
        wish, self._wish = self._wish, ""
        if wish == "send":
            self.prompt.action_send()
        elif wish:
            self.take_completion()

    def _offer(self, word: Wanted, found: Sequence[Completion]) -> None:
        self._offered = word
        self.offer(found, runs=word.kind == "command")

    async def _edit_draft(self) -> None:
        from keen_tui.frontends.tui.terminal.external_editor import EditorFailed, edited  # noqa: PLC0415 - not before the first paint

        try:
            await edited(self.app, self.prompt.written, self.prompt.write)
        except EditorFailed as failed:
            self.say(str(failed))
