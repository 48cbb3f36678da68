/**
 * What the pages can do without a reload: calls of the site's own API from the buttons of shortcodes, and the share
 * button. Without it every form still works by itself.
 */
(() => {
  const about = JSON.parse(document.querySelector('meta[name="rewards-site"]')?.content ?? '{}');

  const region = () => {
    let found = document.querySelector('#notice');
    if (!found) {
      found = document.createElement('div');
      found.id = 'notice';
      found.className = 'notice';
      found.setAttribute('role', 'status');
      document.body.prepend(found);
    }
    return found;
  };
  const say = (text, isBad, where = region()) => {
    where.classList.toggle('bad', isBad);
    where.textContent = text;
    if (where.getBoundingClientRect().top < 0) where.scrollIntoView({ block: 'center' });
  };

  /** Puts the page's live parts in place of those that are shown, as the site draws them now. */
  const refresh = async () => {
    const answer = await fetch(location.href, { credentials: 'same-origin' });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
    for (const part of document.querySelectorAll('[data-live]')) {
      const next = fresh.getElementById(part.id);
      if (!next) continue;
      const hadFocus = part.contains(document.activeElement);
      part.replaceWith(next);
      if (hadFocus) next.focus({ preventScroll: true });
    }
  };

  const filled = (text, answer) => {
    let isComplete = true;
    const result = text.replace(/\{([\w.]+)\}/g, (_, path) => {
      const value = path.split('.').reduce((at, key) => at?.[key], answer);
      if (typeof value !== 'string' && typeof value !== 'number') isComplete = false;
      return String(value);
    });
    return isComplete ? result : undefined;
  };
  const doneText = ({ done, again }, answer) =>
    answer.alreadyClaimed && again
      ? again
      : (done.map((text) => filled(text, answer)).find((text) => text !== undefined) ?? 'Done.');

  const call = async (form) => {
    const button = form.querySelector('button');
    if (button.getAttribute('aria-busy') === 'true') return;
    button.setAttribute('aria-busy', 'true');
    const { _nonce, back, ...fields } = Object.fromEntries(new FormData(form));
    if (fields.milestoneDays) fields.milestoneDays = Number(fields.milestoneDays);
    try {
      const response = await fetch(form.dataset.call, {
        method: 'POST',
        credentials: 'same-origin',
        headers: { 'content-type': 'application/json', 'x-site-nonce': form.dataset.nonce },
        body: JSON.stringify(fields),
      });
      const answer = await response.json();
      const isBad = !response.ok || answer.success !== true;
      say(
        isBad ? (answer.message ?? 'That did not work.') : doneText(JSON.parse(form.dataset.texts), answer),
        isBad,
      );
      await refresh();
    } catch {
      say('The site does not answer just now. Try again in a minute.', true);
    } finally {
      button.removeAttribute('aria-busy');
    }
  };
  document.addEventListener('submit', (event) => {
    if (!event.target.matches('form[data-call]')) return;
    event.preventDefault();
    void call(event.target);
  });

  /** An element with text and attributes. */
  const make = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  /** Hands the link itself on: with the system's own menu, or into the clipboard. */
  const handOn = async (url) => {
    if (navigator.share) {
      try {
        await navigator.share({ url, title: document.title });
        return 'Shared.';
      } catch (error) {
        if (error.name === 'AbortError') return undefined;
      }
    }
    try {
      await navigator.clipboard.writeText(url);
      return 'Link copied.';
    } catch {
      return `Share this link: ${url}`;
    }
  };

  const sendShare = async (url, email) => {
    const fields = { action: 'rewards_custom_event', nonce: about.nonce, event_name: about.event };
    const metadata = JSON.stringify({ url });
    try {
      const response = await fetch(about.ajax, {
        method: 'POST',
        credentials: 'same-origin',
        body: new URLSearchParams({ ...fields, metadata, ...(email !== undefined && { email }) }),
      });
      const { success, data } = await response.json();
      if (!success) return { text: data?.message ?? 'That did not work.', isBad: true };
      const reward = data?.reward ? ` You earned ${data.reward} RWT.` : '';
      return { text: `Thank you for sharing.${reward}`, isBad: false };
    } catch {
      return { text: 'The site does not answer just now. Try again in a minute.', isBad: true };
    }
  };

  let dialog;
  const openDialog = (url) => {
    dialog?.remove();
    const input = make('input', {
      id: 'share-email',
      type: 'email',
      name: 'email',
      required: '',
      autocomplete: 'email',
      maxlength: '254',
    });
    const answer = make('p', { role: 'status', class: 'notice' });
    const send = make('button', { type: 'submit' }, 'Share and earn');
    const close = make('button', { type: 'button', class: 'quiet' }, 'Close');
    const copy = make(
      'button',
      { type: 'button', class: 'plain' },
      navigator.share ? 'Share the link …' : 'Copy the link',
    );
    const form = make(
      'form',
      { class: 'fields' },
      make('h2', { id: 'share-title' }, 'Share this page'),
      make('p', { class: 'dim' }, 'Tell us your e-mail, and the points for sharing are yours.'),
      make('div', { class: 'field' }, make('label', { for: 'share-email' }, 'Your e-mail'), input),
      make('div', { class: 'buttons' }, send, close, copy),
      answer,
    );
    dialog = make('dialog', { 'aria-labelledby': 'share-title' }, form);
    document.body.append(dialog);
    close.addEventListener('click', () => dialog.close());
    copy.addEventListener('click', async () => {
      const text = await handOn(url);
      if (text) say(text, false, answer);
    });
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      send.setAttribute('aria-busy', 'true');
      const { text, isBad } = await sendShare(url, input.value);
      send.removeAttribute('aria-busy');
      say(text, isBad, answer);
      if (!isBad) say(text, false);
    });
    dialog.showModal();
  };

  document.addEventListener('click', async (event) => {
    const button = event.target.closest?.('.rewards-share');
    if (!button || !about.ajax) return;
    event.preventDefault();
    const url = new URL(button.dataset.url || location.href, location.href).href;
    if (!about.event || about.isLoggedIn) {
      const handed = await handOn(url);
      if (handed === undefined) return;
      if (!about.event) return say(handed, false);
      const { text, isBad } = await sendShare(url);
      return say(`${handed} ${text}`, isBad);
    }
    openDialog(url);
  });
})();
