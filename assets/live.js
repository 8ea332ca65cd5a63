/** Keeps what a page marks with `data-live` as the server says it is now, until the work has ended. */
for (const place of document.querySelectorAll("[data-live]")) {
  const events = new EventSource(place.dataset.live);
  events.addEventListener("shown", (event) => {
    place.innerHTML = event.data;
  });
  events.addEventListener("ended", () => {
    events.close();
    location.reload();
  });
}
