// Asks for the report again and again, while somebody looks at it.
const OFTEN = 2000, SELDOM = 30000;
const report = document.getElementById("report"), state = document.getElementById("status");
const by = document.getElementById("by"), pause = document.getElementById("pause");
let shown = "", every = OFTEN, timer = null, asked = 0;

function say(text, mood = "") {
  if (state.textContent !== text) state.textContent = text; // it is read aloud
  state.className = mood;
}

function selecting() {
  const selection = getSelection();
  return !selection.isCollapsed && report.contains(selection.anchorNode);
}

function show(text) {
  if (text === shown) return;
  const focused = report.contains(document.activeElement) && document.activeElement.closest("th");
  const scrolled = [...report.querySelectorAll(".scroll, .listing")].map((one) => one.scrollLeft);
  report.innerHTML = shown = text;
  sortRows();
  report.querySelectorAll(".scroll, .listing").forEach((one, index) => { one.scrollLeft = scrolled[index] || 0; });
  if (focused) report.querySelectorAll("#rows th")[focused.cellIndex]?.querySelector("button")?.focus();
}

function idle() {
  return pause.getAttribute("aria-pressed") === "true" || document.hidden;
}

async function update() {
  clearTimeout(timer);
  const turn = ++asked;
  try {
    const answer = await fetch(`?part=report&by=${by.value}`, { cache: "no-store", redirect: "manual" });
    if (!answer.ok) throw new Error(answer.status ? `the server says ${answer.status}` : "sign in again");
    const text = await answer.text();
    if (turn !== asked) return;
    every = OFTEN;
    if (selecting()) {
      say("waits while text is selected", "waits");
    } else {
      show(text);
      say("live");
    }
  } catch (error) {
    if (turn !== asked) return;
    every = Math.min(2 * every, SELDOM);
    say(`no report (${error.message}); trying again`, "fails");
  }
  if (!idle()) timer = setTimeout(update, every);
}

by.addEventListener("change", update);
pause.addEventListener("click", () => {
  const paused = pause.getAttribute("aria-pressed") !== "true";
  pause.setAttribute("aria-pressed", paused);
  if (paused) {
    ++asked;
    clearTimeout(timer);
    say("paused", "waits");
  } else update();
});
document.addEventListener("visibilitychange", () => {
  if (!idle()) update();
});
timer = setTimeout(update, every);
