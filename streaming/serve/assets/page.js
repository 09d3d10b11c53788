// Keeps the status page up to date: an event says that something is new, and the page is then asked for again, drawn as
// ever by the service. Nothing is drawn here, so that the page says the same with and without script.
"use strict";
(() => {
  const live = document.getElementById("live");
  const askAfter = 1000; // milliseconds between two questions
  const tryAfter = 10000; // after events were refused
  let source = null;
  let asking = false;
  let news = false;
  let saidAt = Date.now();

  const say = (state, text) => {
    if (live.dataset.state === state && live.textContent === text) return;
    live.dataset.state = state;
    live.textContent = text;
  };

  // Of lanes that are not open any more nothing new comes.
  const linked = () => say("live", document.getElementById("former") ? "connected" : "live");

  // Takes over what differs, section by section: what is open stays open, and a focus within what stays is not lost.
  const takeOver = (text) => {
    const fresh = new DOMParser().parseFromString(text, "text/html");
    const next = fresh.getElementById("content");
    const now = document.getElementById("content");
    if (!next) return;
    now.dataset.seen = next.dataset.seen;
    const opened = new Set([...now.querySelectorAll("details[open]")].map((each) => each.id));
    const focused = document.activeElement && document.activeElement.closest("a,summary,[tabindex]");
    const name = focused && (focused.getAttribute("href") || focused.getAttribute("aria-label"));
    const scrolled = [...now.querySelectorAll(".scroll")].map((each) => [each.getAttribute("aria-label"), each.scrollTop, each.scrollLeft]);
    for (const each of next.querySelectorAll("details")) each.open = opened.has(each.id);
    const old = new Map([...now.children].map((each) => [each.id, each]));
    const all = [...next.children].map((each) => {
      const same = old.get(each.id);
      return same && same.outerHTML === each.outerHTML ? same : document.importNode(each, true);
    });
    if (all.length !== now.children.length || all.some((each, i) => each !== now.children[i])) now.replaceChildren(...all);
    for (const [label, top, left] of scrolled) {
      const place = [...now.querySelectorAll(".scroll")].find((each) => each.getAttribute("aria-label") === label);
      if (place) { place.scrollTop = top; place.scrollLeft = left; }
    }
    if (focused && !document.contains(focused) && name) {
      const again = [...now.querySelectorAll("a,summary,[tabindex]")].find((each) => (each.getAttribute("href") || each.getAttribute("aria-label")) === name);
      if (again) again.focus({ preventScroll: true });
    }
  };

  const ask = async () => {
    if (asking) { news = true; return; }
    asking = true;
    news = false;
    try {
      const answer = await fetch(location.pathname, { cache: "no-store" });
      if (answer.status === 404) {
        say("lost", "this lane is open here no more; the last values stay");
      } else {
        if (!answer.ok) throw new Error(answer.status);
        takeOver(await answer.text());
        linked();
      }
      saidAt = Date.now();
    } catch {
      say("lost", "connection lost; the last values stay");
    }
    setTimeout(() => { asking = false; if (news) ask(); }, askAfter);
  };

  const listen = () => {
    source = new EventSource("/api/v1/events");
    // The page that is here is as new as its first event; behind a lost connection anything may have changed.
    source.addEventListener("open", () => { if (live.dataset.state === "lost") ask(); else linked(); });
    source.addEventListener("update", (event) => { if (event.lastEventId !== document.getElementById("content").dataset.seen) ask(); });
    source.addEventListener("operator", ask);
    source.addEventListener("error", () => {
      say("lost", "connection lost; the last values stay");
      if (source.readyState === EventSource.CLOSED) setTimeout(() => { ask(); listen(); }, tryAfter);
    });
  };

  // What no event tells, such as readiness, is asked for now and then; and so is everything after a sleep.
  setInterval(() => { if (Date.now() - saidAt > 15000) ask(); }, 5000);
  addEventListener("pagehide", () => source && source.close());
  addEventListener("pageshow", (event) => { if (event.persisted) listen(); });
  listen();
})();
