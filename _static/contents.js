// The contents beside the text mark the section that one reads, after a jump too.
{
  const links = [...document.querySelectorAll(".bd-toc a.nav-link[href^='#']")];
  const heads = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  let waiting = false;
  const mark = () => {
    waiting = false;
    const line = innerHeight / 4;
    const past = heads.findLastIndex((head) => head && head.getBoundingClientRect().top <= line);
    const end = Math.ceil(scrollY + innerHeight) >= document.documentElement.scrollHeight;
    const here = end ? links.length - 1 : past;
    links.forEach((link, i) => {
      link.classList.toggle("active", i === here);
      if (i === here) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    });
  };
  const soon = () => {
    if (!waiting) requestAnimationFrame(mark);
    waiting = true;
  };
  if (links.length) {
    addEventListener("scroll", soon, { passive: true });
    addEventListener("resize", soon);
    addEventListener("load", mark);
  }
}
