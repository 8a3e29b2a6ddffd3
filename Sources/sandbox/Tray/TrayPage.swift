/// The page that shows the phones: nothing from elsewhere, and what a push holds is only ever set as text.
enum TrayPage {
  static let html = """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Push sandbox</title>
    <link rel="stylesheet" href="/tray.css">
    </head>
    <body>
    <header>
      <h1>Push sandbox</h1>
      <p class="note">For development only. A local Apple and Google: nothing here reaches a phone.</p>
      <p class="counts"><span id="counts" aria-live="polite"></span>
        <button id="clear" type="button">Clear the screens</button></p>
    </header>
    <main id="phones"></main>
    <p class="empty" id="empty">No push has come yet. Start a worker with the settings in
      <code>worker.env</code>.</p>
    <script src="/tray.js"></script>
    </body>
    </html>
    """

  static let style = """
    :root {
      color-scheme: light dark;
      --ground: #eef0f4; --card: #ffffff; --ink: #1b1f27; --soft: #667085; --line: #dfe3ea;
      --screen: linear-gradient(160deg, #dfe7f5, #efe6f4); --accent: #4b5fd6; --warn: #9a6700;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --ground: #14161b; --card: #262a33; --ink: #e8eaf0; --soft: #9aa3b2; --line: #343a46;
        --screen: linear-gradient(160deg, #1d2433, #2a2233); --accent: #93a2ff; --warn: #e3b341;
      }
    }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.45 system-ui, sans-serif; }
    header { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline;
      padding: 1.25rem 1.5rem .9rem; border-bottom: 1px solid var(--line); }
    h1 { font-size: 1.25rem; margin: 0; }
    .note { margin: 0; color: var(--warn); }
    .counts { margin: 0 0 0 auto; color: var(--soft); font-variant-numeric: tabular-nums; }
    button { font: inherit; color: var(--accent); background: none; border: 1px solid var(--line);
      border-radius: 8px; padding: .2rem .7rem; margin-left: .6rem; cursor: pointer; }
    button:hover { border-color: var(--accent); }
    main { display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: 1.25rem; padding: 1.5rem; }
    .phone { background: var(--screen); border: 1px solid var(--line); border-radius: 26px; padding: 1rem .8rem .8rem;
      min-height: 220px; display: flex; flex-direction: column; gap: .55rem; }
    .phone h2 { display: flex; gap: .5rem; align-items: baseline; font-size: .95rem; margin: 0 .35rem; }
    .phone h2 code { font-weight: 400; color: var(--soft); font-size: .8rem; }
    .phone .tail { margin: auto .35rem 0; padding-top: .4rem; color: var(--soft); font-size: .8rem; }
    article { background: var(--card); border-radius: 14px; padding: .6rem .8rem; box-shadow: 0 1px 2px #0002; }
    article.silent { opacity: .82; box-shadow: none; border: 1px dashed var(--line); }
    article h3, article p { unicode-bidi: plaintext; }
    article h3 { font-size: .95rem; margin: 0; overflow-wrap: anywhere; }
    article p { margin: .1rem 0 0; overflow-wrap: anywhere; white-space: pre-wrap; }
    article footer { display: flex; flex-wrap: wrap; gap: .2rem .6rem; margin-top: .35rem; color: var(--soft); font-size: .78rem; }
    .mark { color: var(--accent); }
    .empty { text-align: center; color: var(--soft); padding: 3rem 1.5rem; margin: 0; }
    [hidden] { display: none; }
    """

  static let script = """
    'use strict';
    const phones = document.getElementById('phones');
    const empty = document.getElementById('empty');
    const counts = document.getElementById('counts');
    let shown = -1;

    function element(name, text, kind) {
      const made = document.createElement(name);
      if (text !== undefined) made.textContent = text;
      if (kind) made.className = kind;
      return made;
    }

    function short(token) {
      return token.length > 20 ? token.slice(0, 8) + '…' + token.slice(-6) : token;
    }

    function notification(one) {
      const card = element('article', undefined, one.silent ? 'silent' : '');
      card.append(element('h3', one.title || '(no title)'));
      if (one.subtitle) card.append(element('p', one.subtitle));
      if (one.body) card.append(element('p', one.body));
      const foot = element('footer');
      foot.append(element('time', new Date(one.time).toLocaleTimeString()));
      if (one.silent) foot.append(element('span', 'silent', 'mark'));
      if (one.replaced) foot.append(element('span', 'replaced ' + one.replaced + '×', 'mark'));
      const orca = one.orca || {};
      if (orca.source) foot.append(element('span', orca.source));
      if (orca.agentState) foot.append(element('span', orca.agentState));
      card.append(foot);
      return card;
    }

    function phone(one) {
      const box = element('section', undefined, 'phone');
      const head = element('h2', one.provider === 'apns' ? 'iPhone' : 'Android');
      const route = one.provider === 'apns' ? 'Apple, ' + one.environment : 'Google';
      head.append(element('code', route + ' · ' + short(one.token)));
      head.lastChild.title = one.token;
      box.append(head);
      for (const each of one.notifications) box.append(notification(each));
      const tail = one.received + ' received' + (one.dismissed ? ', ' + one.dismissed + ' dismissed' : '');
      box.append(element('p', one.notifications.length ? tail : 'Nothing on the screen. ' + tail, 'tail'));
      return box;
    }

    async function look() {
      try {
        const reply = await fetch('/tray');
        const tray = await reply.json();
        if (tray.version !== shown) {
          shown = tray.version;
          phones.replaceChildren(...tray.phones.map(phone));
          empty.hidden = tray.phones.length > 0;
          const screens = tray.phones.reduce((sum, one) => sum + one.notifications.length, 0);
          counts.textContent = tray.phones.length + ' phones, ' + screens + ' notifications';
        }
      } catch {
        shown = -1;
        counts.textContent = 'The sandbox does not answer.';
      }
      setTimeout(look, document.hidden ? 3000 : 700);
    }

    document.getElementById('clear').addEventListener('click', () => fetch('/tray', { method: 'DELETE' }));
    look();
    """
}
