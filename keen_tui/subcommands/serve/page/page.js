// Runs before textual.js, which gives no access to its terminal and its socket. It sets the size of the font and
// the address of the socket, shows why the socket was closed, and drops messages that come before it is open.
"use strict";

const USUAL_FONT = 16;
const SMALLEST_FONT = 9;
const COLUMNS = 60; // at least, on a narrow page
const WIDTH_OF_LETTER = 0.6; // of Roboto Mono, in its font size

const BrowserSocket = window.WebSocket;
let isOpen = false;

window.WebSocket = class extends BrowserSocket {
  constructor(...words) {
    super(...words);
    this.addEventListener("open", () => {
      isOpen = true;
    });
    this.addEventListener("close", (event) => {
      isOpen = false;
      document.getElementById("reason").textContent =
        event.reason || "The connection to keen-tui serve is lost. Everything is saved.";
    });
  }

  // textual.js reports the focus before its socket is open, which would be an error.
  send(data) {
    if (this.readyState === BrowserSocket.OPEN) {
      super.send(data);
    }
  }
};

// ctrl+w deletes a word in a terminal, but closes the page in a browser: let the browser ask first.
window.addEventListener("beforeunload", (event) => {
  if (isOpen) {
    event.preventDefault();
  }
});

// A phone that is 390 pixels wide gets 65 columns.
function fontSize() {
  const fitting = Math.floor(window.innerWidth / (COLUMNS * WIDTH_OF_LETTER));
  return Math.max(SMALLEST_FONT, Math.min(USUAL_FONT, fitting));
}

document.addEventListener("DOMContentLoaded", () => {
  localStorage.setItem("place", window.location.pathname); // for door.js
  const address = new URL("ws", window.location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  const terminal = document.getElementById("terminal");
  terminal.dataset.sessionWebsocketUrl = address.href;
  terminal.dataset.fontSize = fontSize();
  document.getElementById("again").addEventListener("click", () => window.location.reload());
  document.fonts.load('16px "Roboto Mono"');
});

// textual.js creates the terminal when the page is loaded.
window.addEventListener("load", () => {
  setTimeout(() => document.querySelector(".xterm-helper-textarea").focus());
});
