// Leads a browser that showed the token to the page. The cookie can't: it is sent below the page's path only.
"use strict";

const place = localStorage.getItem("place");
if (place) {
  window.location.replace(place);
}
