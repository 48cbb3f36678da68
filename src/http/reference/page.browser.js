/** Stands in the page itself, whose policy names it by its digest. */
for (const line of document.querySelectorAll('.curl')) {
  line.textContent = line.textContent.replace(document.body.dataset.anyOrigin, location.origin);
}
document.addEventListener('click', async ({ target }) => {
  if (target.tagName !== 'BUTTON') return;
  const line = target.closest('figure').querySelector('pre');
  try {
    await navigator.clipboard.writeText(line.textContent);
    target.textContent = 'Copied';
  } catch {
    getSelection().selectAllChildren(line);
    target.textContent = 'Selected';
  }
});
