// Runs before textual.js, which keeps its terminal and its socket to itself: this says where the socket is,
// what it said when it closed, and keeps it from saying something before it is open.
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

  // textual.js tells the focus to a socket that isn't open yet, which is an error.
  send(data) {
    if (this.readyState === BrowserSocket.OPEN) {
      super.send(data);
    }
  }
};

// ctrl+w deletes a word in a terminal, and closes the page in a browser.
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

// The terminal is made by the script that follows, when the page is loaded.
window.addEventListener("load", () => {
  setTimeout(() => document.querySelector(".xterm-helper-textarea").focus());
});
