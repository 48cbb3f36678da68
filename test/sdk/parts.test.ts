/** The parts of the client script that need no browser. */
import { describe, expect, test } from 'vitest';
import { createEmails, emailOf } from '../../src/sdk/emails.ts';
import { readEventRules } from '../../src/sdk/event-rules.ts';
import { createStore } from '../../src/sdk/store.ts';

/** What a browser without storage has. */
const forbidden = (): Storage => {
  throw new DOMException('The operation is insecure.', 'SecurityError');
};

describe('whose event it is', () => {
  test('the surest source counts, down to the e-mail of an earlier page', () => {
    const store = createStore(forbidden, 'brand.');
    const emails = createEmails(store, 'tag@people.example');
    expect(emails.pick({ form: 'form@people.example' })).toBe('tag@people.example');
    expect(emails.identify(' user@people.example ')).toBe('user@people.example');
    expect(emails.pick({ form: 'form@people.example' })).toBe('user@people.example');
    expect(emails.pick({ call: 'call@people.example' })).toBe('call@people.example');

    const later = createEmails(store, '');
    expect(later.pick()).toBe('call@people.example');
    expect(later.pick({ form: 'form@people.example' })).toBe('form@people.example');
    later.identify(null);
    expect(later.pick()).toBeUndefined();
    expect(createEmails(store, null).pick()).toBeUndefined();
  });

  test('without leave to remember nothing is remembered', () => {
    expect(createEmails(undefined, null).pick({ form: 'form@people.example' })).toBe('form@people.example');
    expect(createEmails(undefined, null).pick()).toBeUndefined();
  });

  test.each(['', 'nobody', '{{ user.email }}', '<%= email@x %>', 'a b@people.example', 17, null, {}])(
    '%j is no e-mail',
    (text) => expect(emailOf(text)).toBeUndefined(),
  );
});

describe('event-config', () => {
  const event = {
    eventId: 'purchase',
    eventType: 'purchase',
    maxClaims: 1,
    cooldownHours: 24,
    detectionMethod: 'url_pattern',
    detectionConfig: { urlPatterns: ['/thanks*'] },
    isCustom: false,
  };
  const rule = {
    eventType: 'purchase',
    isForm: false,
    urlPatterns: ['/thanks*'],
    successSelectors: [],
    againAfterMs: Number.POSITIVE_INFINITY,
  };

  test('gives the events that a page can notice', () => {
    const events = [
      event,
      { ...event, isCustom: true, eventId: 'custom_vip', eventType: 'Very important purchase' },
      { ...event, eventType: 'form_submit', detectionMethod: 'form_submit', detectionConfig: {} },
      { ...event, eventType: 'daily_visit', maxClaims: -1 },
    ];
    expect(readEventRules({ events })).toEqual([
      rule,
      { ...rule, eventType: 'custom_vip' },
      { ...rule, eventType: 'form_submit', isForm: true, urlPatterns: [] },
      { ...rule, eventType: 'daily_visit', againAfterMs: 86_400_000 },
    ]);
  });

  test.each([
    ['events of servers', { ...event, detectionMethod: 'manual' }],
    ['events of chats', { ...event, detectionMethod: 'chat', detectionConfig: { channels: ['#support'] } }],
    ['events without a sign', { ...event, detectionConfig: {} }],
    [
      'signs of the wrong kind',
      { ...event, detectionConfig: { urlPatterns: '/thanks*', successSelectors: [17] } },
    ],
    ['no configuration', { ...event, detectionConfig: null }],
    ['nothing', null],
    ['a text', 'purchase'],
  ])('leaves out %s', (_name, odd) => {
    expect(readEventRules({ events: [odd, event] })).toEqual([rule]);
  });

  test.each([{}, { events: null }, { events: 'all' }])('%j has no events', (config) => {
    expect(readEventRules(config)).toEqual([]);
  });
});
