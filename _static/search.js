// Search as one types, in the dialog and on the search page, and marks on the page that a hit leads to.
// The entries are a script (book/site/search.py), which is loaded at the first search.
(() => {
  const HERE = new URL("../search/", document.currentScript.src);
  const ROOT = new URL("../../", document.currentScript.src);
  const MOST = 30; // hits shown
  const EXCERPT = 28; // words
  const MARKED = "article";
  const NO_PROSE = "pre, code, math, svg, script, style, button, input, .headerlink, .d2lrnn-explorer, .d2lrnn-text";
  // A run of Chinese characters, or a word with the parts that hyphens and the like join to it.
  const LETTER = "(?:(?!\\p{Script=Han})[\\p{L}\\p{N}])";
  const WORD = new RegExp(`\\p{Script=Han}+|${LETTER}+(?:[-_.'’‐‑]${LETTER}+)*`, "gu");
  const HAN = /\p{Script=Han}/u;
  const IDLE = new Set(
    "a an and are as at be by can do does for from has have how i in is it its of on or that the this to what when where which why with you".split(" "),
  );

  const fold = (word) => word.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");

  // A word without the endings of plural, participle and gerund; not a word that somebody reads.
  const stem = (word) => {
    if (word.length < 5 || !/^[a-z]+$/.test(word)) return word.length === 4 && /[^su]s$/.test(word) ? word.slice(0, -1) : word;
    let short = word.replace(/ies$/, "y").replace(/([^su])s$/, "$1").replace(/(ss|sh|ch|x)es?$/, "$1");
    const bare = short.replace(/(?<!e)(?:ing|ed)$/, "");
    if (bare !== short && bare.length > 2 && /[aeiouy]/.test(bare)) short = bare.replace(/([^lsz])\1$/, "$1");
    return short.length > 4 ? short.replace(/e$/, "") : short;
  };

  const both = (word) => [...new Set([word, stem(word)])];

  // What a word of a text is found by: its letters without the hyphens, its parts, each with its stem.
  const terms = (word) => {
    if (HAN.test(word)) return word.length < 2 ? [word] : [...word].slice(1).map((_, i) => [...word].slice(i, i + 2).join(""));
    const parts = fold(word).split(/[^\p{L}\p{N}]/u).filter(Boolean);
    if (parts.length < 2) return both(parts[0] ?? "");
    return [...new Set([...both(parts.join("")), ...parts.filter((part) => part.length > 1).flatMap(both)])];
  };

  const words = (text) => [...text.matchAll(WORD)];

  // What a word of a query asks for: any of its forms; of a word in parts, the whole, or all parts.
  const wanted = (word) => {
    if (HAN.test(word)) return { combineWith: "AND", queries: terms(word) };
    const parts = fold(word).split(/[^\p{L}\p{N}]/u).filter(Boolean);
    const any = (part) => ({ combineWith: "OR", queries: both(part) });
    const long = parts.filter((part) => part.length > 1);
    const whole = any(parts.join(""));
    if (parts.length < 2) return whole;
    return long.length < 2 ? whole : { combineWith: "OR", queries: [whole, { combineWith: "AND", queries: long.map(any) }] };
  };

  const queried = (text) => {
    const given = words(text.replace(/(?<![\p{L}\p{N}])(\p{L}) (?=\p{L})/gu, "$1-")).map(([word]) => word);
    const busy = given.filter((word) => !IDLE.has(fold(word)));
    return (busy.length ? busy : given).map(wanted);
  };

  const script = (name) =>
    new Promise((resolve, reject) => {
      const element = document.createElement("script");
      Object.assign(element, { src: new URL(name, HERE).href, onload: resolve, onerror: reject });
      document.head.append(element);
    });

  // What an entry is called: of `Vocab.save` that is `save`, or every attribute would be a hit for `vocab`.
  const named = ({ title, kind }) => (kind === "attribute" ? title.split(".").at(-1) : title);

  let loading;
  const load = () =>
    (loading ??= Promise.all([script("minisearch.js"), script("entries.js")]).then(() => {
      const index = new MiniSearch({
        fields: ["name", "page", "terms", "text", "code"],
        storeFields: ["title", "page", "url", "text", "kind"],
        extractField: (entry, field) => (field === "name" ? named(entry) : entry[field]),
        tokenize: (text) => words(text).flatMap(([word]) => terms(word)),
        processTerm: (term) => term,
      });
      index.addAll(window.d2lrnnEntries);
      return index;
    }));

  const OPTIONS = {
    tokenize: (term) => [term],
    processTerm: (term) => term,
    prefix: (term) => term.length > 2,
    fuzzy: (term) => (/^[a-z]{5,}$/.test(term) ? 0.2 : false),
    weights: { fuzzy: 0.2, prefix: 0.4 },
    boost: { name: 6, terms: 3, page: 1.5, text: 1, code: 0.2 },
    boostDocument: (_id, _term, { kind, title }) =>
      /^(Exercises|Quiz|Summary)$/.test(title) ? 0.5 : { term: 2, page: 1.3, section: 1, room: 0.5, name: 0.5, attribute: 0.3 }[kind],
  };

  // All words where sections have them, else any.
  const find = (index, text) => {
    const queries = queried(text);
    if (!queries.length) return [];
    const all = index.search({ combineWith: "AND", queries }, OPTIONS);
    return all.length ? all : index.search({ combineWith: "OR", queries }, OPTIONS);
  };

  const element = (tag, options = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), options);
    made.append(...children);
    return made;
  };

  // A text with the words among these terms marked.
  const marked = (text, found) => {
    const parts = [];
    let end = 0;
    for (const match of words(text)) {
      if (!terms(match[0]).some((term) => found.has(term))) continue;
      parts.push(text.slice(end, match.index), element("mark", { textContent: match[0] }));
      end = match.index + match[0].length;
    }
    return [...parts, text.slice(end)];
  };

  // The part of a text that holds most of these terms.
  const excerpt = (text, found) => {
    const all = words(text);
    const hits = all.map((match) => terms(match[0]).filter((term) => found.has(term)));
    let [best, most] = [0, 0];
    hits.forEach((hit, i) => {
      if (!hit.length) return;
      const count = new Set(hits.slice(i, i + EXCERPT - 5).flat()).size;
      if (count > most) [best, most] = [i, count];
    });
    const first = Math.max(0, best - 5);
    const last = Math.min(all.length - 1, first + EXCERPT);
    if (last < 0) return text;
    const start = first ? all[first].index : 0;
    const end = last < all.length - 1 ? all[last].index + all[last][0].length : text.length;
    return `${first ? "… " : ""}${text.slice(start, end)}${end < text.length ? " …" : ""}`;
  };

  const address = ({ url }, found) => {
    const target = new URL(url, ROOT);
    target.searchParams.set("mark", [...found].sort((a, b) => b.length - a.length).slice(0, 12).join(" "));
    return target.href;
  };

  // What to mark of a hit: the words that were typed, or else what is like them.
  const telling = ({ terms: all, queryTerms }) => {
    const typed = all.filter((term) => queryTerms.includes(term));
    return new Set(typed.length ? typed : all);
  };

  const hit = (result) => {
    const found = telling(result);
    const { title, page, text, kind } = result;
    const body = kind === "term" ? text : excerpt(text, found);
    const link = element("a", { href: address(result, found) }, ...marked(title, found));
    const where = title === page ? [] : [element("span", { className: "d2lrnn-where", textContent: page })];
    return element("li", {}, link, ...where, element("p", {}, ...marked(body, found)));
  };

  const said = (count, text) => {
    if (!text.trim()) return "Type a word of the course: a term, a name from the code, or a term in Chinese.";
    if (!count) return `Nothing found for “${text.trim()}”. Try fewer or other words; the glossary lists the terms.`;
    return count > MOST ? `${count} places, the best ${MOST} of them:` : count === 1 ? "1 place" : `${count} places`;
  };

  // Searches for what an input holds, and shows the hits in a list whose state a screen reader is told.
  const serve = (input, box) => {
    const status = element("p", { className: "d2lrnn-status" });
    status.setAttribute("role", "status");
    const list = element("ol", { className: "d2lrnn-hits" });
    box.append(status, list);
    let latest = 0;
    const show = async () => {
      const turn = ++latest;
      const text = input.value;
      const index = await load();
      if (turn !== latest) return;
      const results = find(index, text);
      status.textContent = said(results.length, text);
      list.replaceChildren(...results.slice(0, MOST).map(hit));
    };
    input.addEventListener("focus", load, { once: true });
    input.addEventListener("input", show);
    input.closest("search, dialog, main").addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      const stops = [input, ...list.querySelectorAll("a")];
      const next = stops[stops.indexOf(document.activeElement) + step];
      if (!next || !stops.includes(document.activeElement)) return;
      event.preventDefault();
      next.focus();
    });
    return show;
  };

  const dialog = document.querySelector("#pst-search-dialog");
  if (dialog) {
    const box = element("div", { className: "d2lrnn-found" });
    dialog.append(box);
    serve(dialog.querySelector("input"), box);
  }

  const page = document.querySelector("#d2lrnn-search");
  if (page) {
    const input = page.querySelector("input");
    const show = serve(input, page.querySelector(".d2lrnn-found"));
    input.value = new URLSearchParams(location.search).get("q") ?? "";
    input.addEventListener("input", () => {
      const here = new URL(location.href);
      here.searchParams.set("q", input.value);
      try {
        history.replaceState(null, "", here);
      } catch {
        // a page from a disk may not change its address
      }
    });
    input.closest("form").addEventListener("submit", (event) => event.preventDefault());
    input.focus();
    show();
  }

  // On the page of a hit: mark the words, and go to the first of them.
  const sought = new URLSearchParams(location.search).get("mark");
  const article = document.querySelector(MARKED);
  if (sought && article) {
    const found = new Set(sought.split(" "));
    const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT, (node) =>
      node.parentElement.closest(NO_PROSE) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
    );
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
      const parts = marked(text.data, found);
      if (parts.length > 1) text.replaceWith(...parts);
    }
    const marks = [...article.querySelectorAll("mark")];
    const anchor = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const after = (mark) =>
      !anchor || anchor.contains(mark) || anchor.compareDocumentPosition(mark) & Node.DOCUMENT_POSITION_FOLLOWING;
    const first = marks.find(after);
    if (first) {
      for (let fold = first.closest("details:not([open])"); fold; fold = first.closest("details:not([open])")) fold.open = true;
      const go = () => first.scrollIntoView({ block: "center" });
      go();
      addEventListener("load", go);
      const clear = () => {
        for (const mark of marks) mark.replaceWith(...mark.childNodes);
        button.remove();
        removeEventListener("keydown", escape);
      };
      const escape = (event) => event.key === "Escape" && clear();
      const button = element("button", { className: "d2lrnn-unmark", textContent: "Clear marks", onclick: clear });
      document.body.append(button);
      addEventListener("keydown", escape);
    }
  }
})();
