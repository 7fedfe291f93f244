// Runs before textual.js, which gives no access to its terminal and its socket. It sets the address of the
// socket, shows why the socket was closed, and drops messages that come before the socket is open.
"use strict";

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

document.addEventListener("DOMContentLoaded", () => {
  const address = new URL("ws", window.location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  document.getElementById("terminal").dataset.sessionWebsocketUrl = address.href;
  document.getElementById("again").addEventListener("click", () => window.location.reload());
  document.fonts.load('16px "Roboto Mono"');
});

// textual.js creates the terminal when the page is loaded.
window.addEventListener("load", () => {
  setTimeout(() => document.querySelector(".xterm-helper-textarea").focus());
});
