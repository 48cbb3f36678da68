// What pages of the console do beyond showing: actions by the control API, and parts that are fetched again when
// something has happened. Reading works without it.
(() => {
  const TOKEN = 'rewards-control-token';
  const API = '/_rewards';
  /** A page in front is no older than this where nothing was told, such as countdowns. */
  const REFRESH_EVERY_MS = 5_000;
  const DONE_SHOWN_MS = 4_000;
  /** At most one refresh in so long, however much happens, and none before so many times of what the last one took. */
  const REFRESH_PAUSE_MS = 1_000;
  const REFRESH_PAUSE_TIMES = 40;

  /** The banner's link brings the token in the part of the address that is never sent. */
  const brought = new URLSearchParams(location.hash.slice(1)).get('token');
  if (brought) {
    localStorage.setItem(TOKEN, brought);
    history.replaceState(null, '', location.pathname + location.search);
  }

  // Actions

  const listed = (text) =>
    text
      .split(',')
      .map((one) => one.trim())
      .filter(Boolean);

  const typedIn = (field) => {
    if (field.dataset.as === 'number') return Number(field.value);
    if (field.dataset.as === 'boolean') return field.value === 'true';
    if (field.dataset.as === 'list') return listed(field.value);
    if (field.dataset.as === 'json') return JSON.parse(field.value);
    return field.value;
  };

  /** `detail.amount` goes into `detail`. */
  const put = (body, name, value) => {
    const names = name.split('.');
    const last = names.pop();
    let inner = body;
    for (const one of names) inner = inner[one] = inner[one] ?? {};
    inner[last] = value;
  };

  /** Those that the address has a place for are not in the body. */
  const isInPath = (form, { name }) => form.dataset.path.includes(`{${name}}`);
  const fieldsOf = (form) =>
    [...form.elements].filter((field) => field.name && field.value !== '' && !isInPath(form, field));

  const bodyOf = (form) => {
    const body = JSON.parse(form.dataset.body ?? '{}');
    for (const field of fieldsOf(form)) {
      try {
        put(body, field.name, typedIn(field));
      } catch {
        field.setAttribute('aria-invalid', 'true');
        field.focus();
        throw new Error(`“${field.name}” is not JSON.`);
      }
    }
    return body;
  };

  const say = (form, text, isBad) => {
    const output = form.querySelector('output');
    const line = document.createElement('p');
    line.textContent = text;
    if (isBad) line.className = 'bad';
    output.replaceChildren(line);
  };

  const show = (form, answer) => {
    const output = form.querySelector('output');
    const text = document.createElement('pre');
    text.tabIndex = 0;
    text.textContent = JSON.stringify(answer, null, 2);
    output.replaceChildren(text);
  };

  /** For as long as it is read; then the part around it is kept up to date again. */
  const sayDone = (form) => {
    say(form, 'Done.');
    const [line] = form.querySelector('output').children;
    setTimeout(() => {
      line.remove();
      refreshSoon();
    }, DONE_SHOWN_MS);
  };

  /** The API's words; each field that is wrong is marked and named. */
  const sayRefusal = (form, status, answer) => {
    const problems = answer?.details?.problems ?? [];
    const words = [answer?.error, answer?.message, answer?.details?.fix].filter(Boolean);
    for (const { setting } of problems) {
      const field = [...form.elements].find(({ name }) => name === setting || name.endsWith(`.${setting}`));
      field?.setAttribute('aria-invalid', 'true');
    }
    form.querySelector('[aria-invalid]')?.focus();
    const named = problems.map(({ setting, message }) => `${setting} ${message}`);
    say(form, [...words, ...named].join(' · ') || `The control API answered ${status}.`, true);
  };

  const filled = (pattern, answer) =>
    pattern.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(answer?.[name] ?? ''));

  const act = async (form) => {
    const token = localStorage.getItem(TOKEN);
    if (!token)
      return say(form, 'This browser may only read. Open the console with `rewards open` to act.', true);
    if (form.dataset.confirm && !confirm(form.dataset.confirm)) return undefined;
    for (const field of form.elements) field.removeAttribute('aria-invalid');
    const { method, path } = form.dataset;
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
    const request = { method, headers };
    if (method !== 'GET' && method !== 'DELETE') {
      request.body = JSON.stringify(bodyOf(form));
      headers['content-type'] = 'application/json';
    }
    const query =
      method === 'GET' ? `?${new URLSearchParams(fieldsOf(form).map((one) => [one.name, one.value]))}` : '';
    const filledPath = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
      encodeURIComponent(form.elements[name].value),
    );
    const reply = await fetch(API + filledPath + query, request);
    const answer = await reply.json().catch(() => undefined);
    if (reply.status === 401) {
      localStorage.removeItem(TOKEN);
      return say(form, 'The stack was started again: open the console with `rewards open` to act.', true);
    }
    if (!reply.ok) return sayRefusal(form, reply.status, answer);
    if (form.dataset.then) return location.assign(filled(form.dataset.then, answer));
    if (form.dataset.shows === undefined) sayDone(form);
    else show(form, answer);
    return refresh();
  };

  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!form.matches('form.action')) return;
    event.preventDefault();
    const button = form.querySelector('button[type=submit]');
    button.setAttribute('aria-busy', 'true');
    act(form)
      .catch((error) => say(form, error.message, true))
      .finally(() => button.removeAttribute('aria-busy'));
  });

  /** A command says what stands in the fields of its form; a part in brackets belongs to a field that may be empty. */
  const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
  const fillCommand = (form) => {
    const code = form?.querySelector('[data-command]');
    if (!code) return;
    const typed = (name) => form.elements[name]?.value ?? '';
    code.textContent = code.dataset.command
      .replaceAll(/ \[([^\]]*)\{([\w.]+)\}\]/g, (_, option, name) =>
        (form.elements[name]?.dataset.as === 'list' ? listed(typed(name)) : [typed(name)])
          .filter(Boolean)
          .map((one) => ` ${option}${quoted(one)}`)
          .join(''),
      )
      .replaceAll(/\{([\w.]+)\}/g, (all, name) => (typed(name) ? quoted(typed(name)) : all));
  };
  const fillCommands = (within) => within.querySelectorAll('form.action').forEach(fillCommand);
  document.addEventListener('input', (event) => fillCommand(event.target.closest?.('form.action')));
  fillCommands(document);

  document.addEventListener('click', (event) => {
    const button = event.target.closest?.('button.copy');
    if (!button) return;
    const text = button.parentElement.querySelector('code').textContent;
    const label = (word) => () => {
      button.textContent = word;
    };
    navigator.clipboard.writeText(text).then(label('Copied'), label('Not copied'));
    setTimeout(label('Copy'), 2_000);
  });

  // Live parts

  /** How an element is found again in the new part. */
  const nameOf = (element) =>
    element.id
      ? `#${CSS.escape(element.id)}`
      : element.getAttribute('href')
        ? `a[href="${CSS.escape(element.getAttribute('href'))}"]`
        : element.getAttribute('aria-label')
          ? `[aria-label="${CSS.escape(element.getAttribute('aria-label'))}"]`
          : undefined;

  /** Somebody types in it, marks some of its text or has been given an answer there. */
  const isInUse = (part) => {
    const selection = getSelection();
    const marked = selection && !selection.isCollapsed && part.contains(selection.anchorNode);
    const typed = [...part.querySelectorAll('input, textarea, select')].some(
      (field) =>
        field === document.activeElement ||
        (field.value !== field.defaultValue && field.tagName !== 'SELECT'),
    );
    return marked || typed || part.querySelector('[aria-busy], output:not(:empty)') !== null;
  };

  const replace = (part, fresh) => {
    fillCommands(fresh);
    if (part.innerHTML === fresh.innerHTML || isInUse(part)) return;
    const focused = part.contains(document.activeElement) ? nameOf(document.activeElement) : undefined;
    const scrolled = [...part.querySelectorAll('.scroll, .body')].map(({ scrollLeft, scrollTop }) => ({
      scrollLeft,
      scrollTop,
    }));
    const opened = [...part.querySelectorAll('details')].map(({ open }) => open);
    part.replaceChildren(...fresh.childNodes);
    part.querySelectorAll('details').forEach((one, place) => {
      if (opened[place]) one.open = true;
    });
    part.querySelectorAll('.scroll, .body').forEach((one, place) => {
      Object.assign(one, scrolled[place]);
    });
    if (focused) part.querySelector(focused)?.focus({ preventScroll: true });
  };

  /** Another page stands in for this one, or this one is there again. Not while somebody types in it. */
  const turned = (page) => {
    const [here, fresh] = [document, page].map((one) => one.getElementById('main'));
    if (!fresh || here.dataset.instead === fresh.dataset.instead) return false;
    const lost = document.getElementById('lost');
    lost.hidden = !isInUse(here);
    if (!lost.hidden) return true;
    fillCommands(fresh);
    here.replaceChildren(...fresh.childNodes);
    if (fresh.dataset.instead === undefined) delete here.dataset.instead;
    else here.dataset.instead = '';
    document.title = page.title;
    return true;
  };

  let refreshedAt = 0;
  let refreshTookMs = 0;
  let refreshing;
  const refresh = () => {
    refreshing ??= (async () => {
      const address = location.href;
      const startedAt = performance.now();
      try {
        const reply = await fetch(address, { headers: { accept: 'text/html' } });
        if (reply.ok) {
          const page = new DOMParser().parseFromString(await reply.text(), 'text/html');
          // Another page may have come in its place meanwhile, whose parts have the same names.
          if (location.href !== address) return;
          if (turned(page)) return;
          for (const part of document.querySelectorAll('[data-live][id]')) {
            const fresh = page.getElementById(part.id);
            if (fresh) replace(part, fresh);
          }
        }
        document.getElementById('lost').hidden = reply.status < 500 && reply.status !== 401;
      } catch {
        document.getElementById('lost').hidden = false;
      } finally {
        refreshedAt = performance.now();
        refreshTookMs = refreshedAt - startedAt;
        refreshing = undefined;
      }
    })();
    return refreshing;
  };

  let planned;
  const refreshSoon = () => {
    if (document.hidden || planned) return;
    // A busy machine has other work, and what does not answer for long is not asked for ever less often.
    const pauseMs = Math.min(
      Math.max(REFRESH_PAUSE_MS, REFRESH_PAUSE_TIMES * refreshTookMs),
      REFRESH_EVERY_MS,
    );
    const inMs = Math.max(0, pauseMs - (performance.now() - refreshedAt));
    planned = setTimeout(() => {
      planned = undefined;
      refresh();
    }, inMs);
  };

  if (document.querySelector('[data-live]')) {
    // Browsers open six connections to an address at most: of all tabs one listens, and tells the others.
    const channel = new BroadcastChannel('rewards-console');
    channel.addEventListener('message', refreshSoon);
    const listen = () =>
      new Promise(() => {
        const stream = new EventSource(`${API}/console/live`);
        stream.addEventListener('changed', () => {
          channel.postMessage('changed');
          refreshSoon();
        });
      });
    if (navigator.locks) void navigator.locks.request('rewards-console-live', listen);
    setInterval(refreshSoon, REFRESH_EVERY_MS);
    document.addEventListener('visibilitychange', refreshSoon);
  }

  // Going on: another page's content in this document, which is there sooner than another document

  const withoutHash = (address) => address.split('#')[0];
  /** A page of this console at another address. */
  const isOther = ({ origin, pathname, href }) =>
    origin === location.origin &&
    (pathname === `${API}/` || pathname.startsWith(`${API}/console/`)) &&
    withoutHash(href) !== withoutHash(location.href);
  const scriptOf = (of) => of.querySelector('script[src]')?.getAttribute('src');

  let going = 0;
  /** What this document shows; a step within a page changes nothing of it. */
  let shownAt = withoutHash(location.href);
  /** Where it is not a page as this one is, the browser goes there by itself. */
  const go = async (address, { isBack = false, scrollY: at = 0 } = {}) => {
    going += 1;
    const turn = going;
    const reply = await fetch(address, { headers: { accept: 'text/html' } }).catch(() => undefined);
    const text = reply?.ok && !reply.redirected ? await reply.text().catch(() => '') : '';
    if (turn !== going) return;
    const page = new DOMParser().parseFromString(text, 'text/html');
    if (!page.querySelector('main') || scriptOf(page) !== scriptOf(document)) {
      if (isBack) location.reload();
      else location.assign(address);
      return;
    }
    if (!isBack) {
      history.replaceState({ scrollY }, '');
      history.pushState(null, '', address);
    }
    shownAt = withoutHash(location.href);
    document.title = page.title;
    for (const name of ['header', 'main'])
      document.querySelector(name).replaceWith(document.adoptNode(page.querySelector(name)));
    fillCommands(document);
    // Who uses a keyboard or hears the page goes on at its content.
    document.querySelector('main').focus({ preventScroll: true });
    scrollTo(0, at);
  };

  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href]');
    const isPlain =
      event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || event.defaultPrevented || link.target || !isOther(new URL(link.href))) return;
    event.preventDefault();
    void go(link.href);
  });
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!form.matches('form.filter')) return;
    const address = new URL(location.pathname, location.href);
    for (const [name, value] of new FormData(form))
      if (value !== '') address.searchParams.append(name, value);
    event.preventDefault();
    void go(address.href, { isBack: !isOther(address) });
  });
  addEventListener('popstate', ({ state }) => {
    if (withoutHash(location.href) === shownAt) return;
    void go(location.href, { isBack: true, scrollY: state?.scrollY });
  });

  // The line of time: what is dragged to stands in the field of how long, whose button goes there

  /** In the line's own units: so near to a moment, it is meant. */
  const NEAR = 10;
  /** How far ahead a place on the line is. */
  const aimAt = (line, clientX) => {
    const { left, width } = line.getBoundingClientRect();
    const whole = line.viewBox.baseVal.width;
    const edge = Number(line.dataset.edge);
    const at = Math.min(whole - edge, Math.max(edge, ((clientX - left) / width) * whole));
    const moment = [...line.querySelectorAll('circle')].find(
      ({ cx }) => Math.abs(cx.baseVal.value - at) <= NEAR,
    );
    if (moment) return { x: moment.cx.baseVal.value, aheadMs: Number(moment.dataset.aheadMs) };
    const part = (at - edge) / (whole - 2 * edge);
    return { x: at, aheadMs: Math.expm1(part * Math.log1p(Number(line.dataset.lastMs) / 1_000)) * 1_000 };
  };
  /** `1d2h`, `15m`: whole seconds, and never none. */
  const lengthText = (ms) => {
    let seconds = Math.max(1, Math.ceil(ms / 1_000));
    return [
      ['d', 86_400],
      ['h', 3_600],
      ['m', 60],
      ['s', 1],
    ]
      .map(([unit, length]) => {
        const count = Math.floor(seconds / length);
        seconds -= count * length;
        return count > 0 ? `${count}${unit}` : '';
      })
      .join('');
  };
  const aim = (clientX) => {
    // The part around it may be another one by now.
    const line = document.querySelector('.time-line');
    const field = document.querySelector('form.action input[name="advance"]');
    if (!line || !field) return;
    const { x, aheadMs } = aimAt(line, clientX);
    line.dataset.aimed = '';
    for (const end of ['x1', 'x2']) line.querySelector('.aim').setAttribute(end, x);
    field.value = lengthText(aheadMs);
    fillCommand(field.form);
  };
  document.addEventListener('pointerdown', (event) => {
    if (!event.target.closest?.('.time-line')) return;
    event.preventDefault();
    aim(event.clientX);
    const moved = ({ clientX }) => aim(clientX);
    document.addEventListener('pointermove', moved);
    const end = () => {
      document.removeEventListener('pointermove', moved);
      document.querySelector('form.action input[name="advance"]')?.focus();
    };
    document.addEventListener('pointerup', end, { once: true });
  });

  // Keys

  const rows = () =>
    [...document.querySelectorAll('tbody tr a[href]')].filter(
      (link, place, all) => all.findIndex((other) => other.closest('tr') === link.closest('tr')) === place,
    );
  const step = (by) => {
    const links = rows();
    const at = links.indexOf(document.activeElement);
    links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input, textarea, select'))
      return;
    if (event.key === '/') document.querySelector('form.filter input, form input')?.focus();
    else if (event.key === 'j') step(1);
    else if (event.key === 'k') step(-1);
    else return;
    event.preventDefault();
  });
})();
