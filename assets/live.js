/** Keeps what a page marks with `data-live` as the server says it is now, until the work has ended. */
for (const place of document.querySelectorAll("[data-live]")) {
  const events = new EventSource(place.dataset.live);
  let isOld = false;
  events.addEventListener("shown", (event) => {
    isOld = false;
    place.innerHTML = event.data;
  });
  events.addEventListener("error", () => {
    if (isOld) return;
    isOld = true;
    const said = "No news comes from the program any more: what stands here may be older. Load the page again.";
    place.innerHTML = `<p class="state bad" role="alert">${said}</p>${place.innerHTML}`;
  });
  events.addEventListener("ended", () => {
    events.close();
    location.reload();
  });
}
