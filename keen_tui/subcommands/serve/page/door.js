// Leads a browser that has shown the token to its page. The cookie can't: it is sent only below the page's path.
"use strict";

const place = localStorage.getItem("place");
if (place) {
  window.location.replace(place);
}
