// What a person would see go wrong at this size: the page wider than the screen, text cut off, text over text.
() => {
  const width = document.documentElement.clientWidth;
  const found = [];
  const say = (what, element) => found.push(`${what}: <${element.tagName.toLowerCase()} class="${element.className}"> ${element.textContent.trim().slice(0, 60)}`);
  if (document.documentElement.scrollWidth > width) found.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  // The part of the screen in which an element can be seen: what scrolls cuts off on purpose.
  const frame = (element) => {
    let [left, right, top, bottom] = [-Infinity, Infinity, -Infinity, Infinity];
    let scrolls = false;
    for (let above = element; above && above !== document.body; above = above.parentElement) {
      if (getComputedStyle(above).overflowX !== "visible") {
        const box = above.getBoundingClientRect();
        [left, right, top, bottom] = [Math.max(left, box.left), Math.min(right, box.right), Math.max(top, box.top), Math.min(bottom, box.bottom)];
        scrolls = true;
      }
    }
    return { left, right, top, bottom, scrolls };
  };
  const unseen = ".hidden, .skip, svg, script, style, option, .CodeMirror, .yasqe";
  const pieces = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || element.closest(unseen) || !element.checkVisibility()) continue;
    if (element.tagName === "DETAILS" && !element.open) continue; // text in it is folded up, though it itself is seen
    const around = frame(element);
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      if (box.width < 1 || box.height < 1) continue;
      if (!around.scrolls && (box.right > width + 1 || box.left < -1)) say("cut off", element);
      const seen = {
        left: Math.max(box.left, around.left), right: Math.min(box.right, around.right),
        top: Math.max(box.top, around.top), bottom: Math.min(box.bottom, around.bottom), element,
      };
      // A heading that stays while its table scrolls beneath it covers what scrolls, which is its purpose.
      seen.stays = element.closest("th, td") !== null && around.scrolls && getComputedStyle(element.closest("th, td")).position === "sticky";
      if (seen.right - seen.left > 1 && seen.bottom - seen.top > 1) pieces.push(seen);
    }
  }
  for (const element of document.querySelectorAll("main *")) {
    if (element.closest(unseen) || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    if (style.overflowX === "hidden" && element.scrollWidth > element.clientWidth + 1) say("clipped", element);
  }
  pieces.sort((one, other) => one.top - other.top);
  for (let at = 0; at < pieces.length; at += 1) {
    const one = pieces[at];
    for (let next = at + 1; next < pieces.length && pieces[next].top < one.bottom - 4; next += 1) {
      const other = pieces[next];
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (across > 2 && down > 4 && !one.stays && !other.stays) say(`"${other.element.textContent.trim().slice(0, 40)}" lies over`, one.element);
    }
  }
  return [...new Set(found)].slice(0, 10);
}
