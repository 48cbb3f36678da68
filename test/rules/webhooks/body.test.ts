/** What brands are told: the contract's payload of a distributed reward, and the form that all types share. */
import { expect, test } from 'vitest';
import { isWebhookType, webhookBody, webhookTypes } from '../../../src/rules/webhook-body.ts';

const id = 'evt_01890a5d-ac96-774b-bcce-b302099a8057';
const timestamp = 1_700_000_000_123;
const transactionHash = `0x${'ab'.repeat(32)}`;

test('a distributed reward has the fields of the contract beside id, type, created and data', () => {
  const brandId = `0x${'11'.repeat(20)}`;
  const walletAddress = `0x${'22'.repeat(20)}`;
  const facts = {
    brandId,
    userId: 'zoë@shop.example',
    email: 'zoë@shop.example',
    walletAddress,
    amount: 25,
    eventType: 'complete_survey',
    transactionHash,
    timestamp,
  };
  const body = webhookBody({ id, event: { type: 'reward.distributed', facts } });
  expect(JSON.parse(body)).toEqual({
    id,
    type: 'reward.distributed',
    created: 1_700_000_000,
    event: 'rwt_distributed',
    brandId,
    userId: 'zoë@shop.example',
    email: 'zoë@shop.example',
    walletAddress,
    rwtAmount: 25,
    transactionHash,
    timestamp,
    data: {
      userEmail: 'zoë@shop.example',
      amount: 25,
      eventType: 'complete_survey',
      transactionHash,
      timestamp,
    },
  });
});

test('the other types have their facts as data', () => {
  const facts = { userEmail: 'a@b.example', milestoneDays: 7, bonusAmount: 100, timestamp };
  expect(JSON.parse(webhookBody({ id, event: { type: 'streak.milestone', facts } }))).toEqual({
    id,
    type: 'streak.milestone',
    created: 1_700_000_000,
    data: facts,
  });
});

test('a type is one of five words', () => {
  expect(webhookTypes).toHaveLength(5);
  expect(isWebhookType('perk.redeemed')).toBe(true);
  expect(isWebhookType('rwt_distributed')).toBe(false);
});
