{
  // Weights are whole numbers of grid steps in three bytes, the low bytes of all first, then the middle ones.
  const unpack = (text, scale) => {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const size = bytes.length / 3;
    return Float64Array.from({ length: size }, (_, i) => {
      const steps = bytes[i] | (bytes[size + i] << 8) | (bytes[2 * size + i] << 16);
      return ((steps << 8) >> 8) / scale; // the highest bit is the sign
    });
  };

  // Returns a function that reads a text token by token and returns the logits of the next one.
  const reader = ({ vocab, hiddens, scale, weights }) => {
    const all = unpack(weights, scale);
    let start = 0;
    const take = (size) => all.subarray(start, (start += size));
    const [W_xh, W_hh] = [take(vocab * hiddens), take(hiddens * hiddens)];
    const [b_h, W_hq, b_q] = [take(hiddens), take(hiddens * vocab), take(vocab)];
    const addProduct = (sums, vector, matrix) => {
      for (let i = 0, at = 0; i < vector.length; i++)
        for (let j = 0; j < sums.length; j++, at++) sums[j] += vector[i] * matrix[at];
    };
    return () => {
      let H = new Float64Array(hiddens);
      return (token) => {
        const sums = b_h.map((b, j) => b + W_xh[token * hiddens + j]);
        addProduct(sums, H, W_hh);
        H = sums.map(Math.tanh);
        const logits = b_q.slice();
        addProduct(logits, H, W_hq);
        return logits;
      };
    };
  };

  // torch.rand in float64: the Mersenne Twister, two draws of 32 bits for each number in [0, 1).
  const random = (seed) => {
    const state = new Uint32Array(624);
    state[0] = seed;
    for (let i = 1; i < 624; i++)
      state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
    let next = 624;
    const draw = () => {
      if (next === 624) {
        for (let i = 0; i < 624; i++) {
          const y = (state[i] & 2 ** 31) | (state[(i + 1) % 624] & (2 ** 31 - 1));
          state[i] = state[(i + 397) % 624] ^ (y >>> 1) ^ (y & 1 ? 2567483615 : 0);
        }
        next = 0;
      }
      let y = state[next++];
      y ^= y >>> 11;
      y ^= (y << 7) & 2636928640;
      y ^= (y << 15) & 4022730752;
      return (y ^ (y >>> 18)) >>> 0;
    };
    return () => ((draw() & 0x1fffff) * 2 ** 32 + draw()) / 2 ** 53;
  };

  // The tokens from the likeliest to the least, without "<unk>", which is token 0, and their chances.
  const ranked = (logits, temperature) => {
    const order = [...logits.keys()].slice(1).sort((a, b) => logits[b] - logits[a] || a - b);
    const best = logits[order[0]];
    const shares = order.map((token, i) =>
      temperature ? Math.exp((logits[token] - best) / temperature) : Number(i === 0));
    const total = shares.reduce((sum, share) => sum + share);
    return { order, shares, total };
  };
  const choose = ({ order, shares, total }, chance) => {
    let sum = 0;
    const found = shares.findIndex((share) => (sum += share) > chance * total);
    return order[found < 0 ? order.length - 1 : found];
  };

  const shown = (token) => (token === " " ? "space" : token);

  for (const box of document.querySelectorAll(".d2lrnn-text:not([data-ready])")) {
    box.dataset.ready = "";
    const data = JSON.parse(box.querySelector("script[type='application/json']").textContent);
    const { tokens, count } = data;
    const start = reader({ ...data, vocab: tokens.length });
    const find = (role) => box.querySelector(`[data-role="${role}"]`);
    const [prefix, temperature, again] = ["prefix", "temperature", "again"].map(find);
    const [status, results] = ["status", "results"].map(find);
    const template = box.querySelector("tbody tr");
    let seed = data.seed;

    const read = (ids) => {
      const next = start();
      return { next, logits: ids.map(next).at(-1) };
    };
    const continued = (ids, heat, chances) => {
      let { next, logits } = read(ids);
      const added = [];
      for (let i = 0; i < count; i++) {
        added.push(choose(ranked(logits, heat), chances()));
        logits = next(added[i]);
      }
      return [...ids, ...added].map((id) => tokens[id]).join("");
    };
    const row = (token, chance) => {
      const copy = template.cloneNode(true);
      copy.querySelector("th").textContent = shown(token);
      const percent = `${(100 * chance).toFixed(1)} %`;
      Object.assign(copy.querySelector("data"), { value: chance, textContent: percent });
      copy.querySelector("rect").setAttribute("width", 100 * chance);
      return copy;
    };
    const update = () => {
      const heat = Number(temperature.value);
      temperature.nextElementSibling.value = heat.toFixed(1);
      const typed = [...prefix.value];
      const unknown = [...new Set(typed.filter((character) => tokens.indexOf(character) < 1))];
      const fault = unknown.length
        ? `The model's texts have no ${unknown.map((c) => `“${c}”`).join(", ")}: leave it out.`
        : typed.length ? "" : "Type at least one character.";
      if (status.textContent !== fault) status.textContent = fault;
      prefix.setAttribute("aria-invalid", Boolean(fault));
      results.hidden = Boolean(fault);
      if (fault) return;
      const ids = typed.map((character) => tokens.indexOf(character));
      const { order, shares, total } = ranked(read(ids).logits, heat);
      find("after").textContent = prefix.value;
      find("greedy").textContent = continued(ids, 0, () => 0);
      find("drawn").textContent = continued(ids, heat, random(seed));
      find("seed").textContent = seed;
      const rows = order.map((id, i) => row(tokens[id], shares[i] / total));
      find("first").replaceChildren(...rows.slice(0, data.first));
      find("rest").replaceChildren(...rows.slice(data.first));
    };
    box.addEventListener("input", update);
    again.addEventListener("click", () => { seed += 1; update(); });
    find("controls").hidden = false;
    update();
  }
}
