// Which texts and lines of a page are too close in colour to what is behind them, from computed styles.
// Evaluates to two functions; each returns a line of words for each pair of colours that is too close.
(() => {
  const TEXT = 4.5, LARGE_TEXT = 3, GRAPHICS = 3; // WCAG 1.4.3 and 1.4.11
  // What is deliberately pale in a drawing: a line or area at a quarter of its strength or less, as a grid
  // is; an area with text on it, which is that text's ground; and a scale of colours, whose one end is near
  // the ground, as areas are in more colours than the palette's six, black and none.
  const PALE = 0.25, COLOURS = 8;
  const SHAPES = "path, use, line, polyline, polygon, rect, circle, ellipse, text";
  const UNPAINTED = "defs, clipPath, marker, mask, pattern, symbol";

  const brush = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgba = (colour) => {
    if (!known.has(colour)) {
      brush.clearRect(0, 0, 1, 1);
      brush.fillStyle = colour;
      brush.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = brush.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((part, i) => part * a + below[i] * (1 - a));
  const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const luminance = (colour) => {
    const [r, g, b] = colour.map((part) => linear(part / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const hex = (colour) => "#" + colour.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("");
  const tooClose = (what, colour, below, least) => {
    const shown = over(colour, below);
    const ratio = contrast(shown, below);
    return ratio < least - 0.005 ? `${what} ${hex(shown)} on ${hex(below)}: ${ratio.toFixed(2)}` : null;
  };

  const seen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const strength = (element, top) => {
    let product = 1;
    for (let at = element; at && at !== top; at = at.parentElement) product *= getComputedStyle(at).opacity;
    return product;
  };
  const paper = () => {
    if (matchMedia("print").matches) return [255, 255, 255];
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = "Canvas"; // a canvas does not take the names of the system's colours everywhere
    const colour = rgba(getComputedStyle(probe).color).slice(0, 3);
    probe.remove();
    return colour;
  };
  const pageGround = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      layers.push(rgba(getComputedStyle(at).backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    return layers.reduceRight((below, layer) => over(layer, below), paper());
  };
  const leastForText = (style, zoom = 1) => {
    const size = parseFloat(style.fontSize) * zoom;
    return size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? LARGE_TEXT : TEXT;
  };

  // The colour of a shape's fill or stroke, with all that makes it transparent; null without one.
  const paint = (shape, kind, top) => {
    const style = getComputedStyle(shape);
    if (style[kind] === "none" || style[kind].startsWith("url")) return null;
    if (kind === "stroke" && parseFloat(style.strokeWidth) === 0) return null;
    if (kind === "fill" && shape.localName === "path" && isStraight(shape.getBBox())) return null;
    const [r, g, b, a] = rgba(style[kind]);
    const alpha = a * style[`${kind}Opacity`] * strength(shape, top);
    return alpha ? [r, g, b, alpha] : null;
  };
  const isStraight = ({ width, height }) => width === 0 || height === 0;
  const middle = (box) => [box.x + box.width / 2, box.y + box.height / 2];
  const within = ([x, y], box) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
  const inFill = (shape, point) =>
    shape.isPointInFill(new DOMPoint(...point).matrixTransform(shape.getScreenCTM().inverse()));
  // An area is the ground of what lies wholly in it and is much smaller.
  const encloses = (outer, inner) => outer.left <= inner.left && outer.right >= inner.right
    && outer.top <= inner.top && outer.bottom >= inner.bottom
    && outer.width * outer.height > 4 * inner.width * inner.height;

  const inDrawing = (svg) => {
    const [page, top] = [pageGround(svg), svg.parentElement];
    const shapes = [...svg.querySelectorAll(SHAPES)].filter((shape) => !shape.closest(UNPAINTED) && seen(shape));
    const boxes = new Map(shapes.map((shape) => [shape, shape.getBoundingClientRect()]));
    const textsAt = shapes.filter((shape) => shape.localName === "text").map((text) => middle(boxes.get(text)));
    const colours = new Set(shapes.map((shape) => getComputedStyle(shape).fill));
    const areas = []; // painted so far
    const ground = (holds) => areas.filter(holds).reduce((below, area) => over(area.fill, below), page);

    const ofText = (text) => {
      const zoom = Math.min(boxes.get(text).height / text.getBBox().height, 1);
      return [...(text.children.length ? text.children : [text])].filter((part) => part.textContent.trim())
        .map((part) => {
          const point = middle(part.getBoundingClientRect());
          const below = ground((area) => area.holds(point));
          const colour = paint(part, "fill", top) ?? [...below, 1];
          return tooClose("text", colour, below, leastForText(getComputedStyle(part), zoom));
        });
    };
    const ofShape = (shape) => {
      const box = boxes.get(shape);
      const [fill, stroke] = ["fill", "stroke"].map((kind) => paint(shape, kind, top));
      const below = ground((area) => encloses(area.box, box));
      const closed = fill && shape.localName !== "use"; // an area, not a tick or a marker
      const area = { fill, box, holds: (point) => within(point, box) && inFill(shape, point) };
      if (closed) areas.push(area);
      if ((closed && textsAt.some(area.holds)) || (!stroke && colours.size > COLOURS)) return [];
      const strong = [stroke, fill].filter((colour) => colour?.[3] > PALE);
      const words = strong.map((colour) =>
        tooClose(colour === stroke ? "line" : "area", colour, below, GRAPHICS));
      return words.every(Boolean) ? words.slice(0, 1) : []; // an outline, or what it holds, is enough
    };
    return shapes.flatMap((shape) => (shape.localName === "text" ? ofText(shape) : ofShape(shape)));
  };

  const inText = (element) => {
    const style = getComputedStyle(element);
    const [r, g, b, a] = rgba(style.color);
    const colour = [r, g, b, a * strength(element, null)];
    return tooClose("text", colour, pageGround(element), leastForText(style));
  };
  const holdsText = (element) => !element.closest("svg, script, style, noscript")
    && [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const forReadersOfTheScreen = (element) => element.clientWidth === 1 && element.clientHeight === 1;

  const once = (words) => [...new Set(words)].filter(Boolean);
  return {
    drawings: () => once([...document.querySelectorAll("main svg")].filter(seen).flatMap(inDrawing)),
    texts: () => once([...document.body.querySelectorAll("*")]
      .filter((element) => holdsText(element) && seen(element) && !forReadersOfTheScreen(element)).map(inText)),
  };
})()
