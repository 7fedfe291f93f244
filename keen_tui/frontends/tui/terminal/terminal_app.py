"""An app with access to parts that Textual keeps private: its terminal, its theme, a quiet end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from textual.app import App, ReturnType
from textual.screen import Screen

from keen_tui.frontends.tui.terminal import gc_policy

if TYPE_CHECKING:
    from textual._compositor import CompositorUpdate


class TerminalApp(App[ReturnType]):
    """An app that writes to its terminal, gives it back to the shell, and prints nothing when it fails."""

    def failed(self, error: Exception | None) -> None:
        """An exception that nobody took ends the app."""
        raise NotImplementedError

    _has_theme = False

    def get_css_variables(self) -> dict[str, str]:
        """The variables of the theme; none before there is one, which would be computed in vain."""
        return super().get_css_variables() if self._has_theme else {}

    def begin_with_theme(self, name: str) -> None:
        """Have that theme before the app runs. Setting it would style everything twice."""
        self._has_theme = True
        self.set_reactive(App.theme, name)
        self._refresh_truecolor_filter(self.ansi_theme)  # what watching the theme would do
        self.stylesheet.set_variables(self.get_css_variables())

    async def mount_unseen(self, screen: Screen[Any]) -> None:
        """Mount a screen with all its widgets while the current one stays. Pushing it shows it."""
        _, mounted = self._get_screen(screen)
        await mounted

    def lay_out_unseen(self, screen: Screen[Any]) -> None:
        """Lay out a mounted screen that isn't shown yet, for the size of the terminal. Pushing it needs no
        layout from scratch then."""
        screen._refresh_layout(self.size)

    def draw_unseen(self, screen: Screen[Any]) -> None:
        """Draw a screen that is laid out but not shown yet, so that its rows are ready for its first
        picture."""
        picture = screen._compositor.render_update(full=True)
        if picture is not None:
            cast("CompositorUpdate", picture).render_segments(self.console)

    def post_display_hook(self) -> None:
        """Collect young garbage between two pictures."""
        gc_policy.picture_is_done(asyncio.get_running_loop())

    def write_to_terminal(self, sequence: str) -> None:
        """Write an escape sequence, if there is a terminal."""
        if self._driver:
            self._driver.write(sequence)

    def suspend_job(self) -> bool:
        """Give the terminal back to the shell, until that brings the program back. False: there is none."""
        suspend = getattr(self._driver, "suspend_job", None)
        return suspend is not None and bool(suspend())

    def _fatal_error(self) -> None:
        """Textual would print the exception with all that was known then, keys of models too."""
        self.failed(self._exception)
        self._close_messages_no_wait()
