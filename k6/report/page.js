// What a mark in a chart stands for, on hovering, tapping and tabbing.
(() => {
  const tip = document.getElementById('tip');
  const show = (mark) => {
    tip.textContent = mark.dataset.tip;
    const box = mark.getBoundingClientRect();
    const left = Math.min(Math.max(6, box.left + box.width / 2 - tip.offsetWidth / 2), innerWidth - tip.offsetWidth - 6);
    const above = box.top - tip.offsetHeight - 8;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 4 ? above : box.bottom + 8}px`;
    tip.classList.add('shown');
  };
  const hide = () => tip.classList.remove('shown');
  const marked = (event) => event.target.closest('[data-tip]');
  for (const name of ['pointerover', 'focusin', 'click']) {
    document.addEventListener(name, (event) => (marked(event) ? show(marked(event)) : hide()));
  }
  document.addEventListener('scroll', hide, { passive: true });
})();
