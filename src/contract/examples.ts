/** Examples in the API description: the brand and the users of the packaged demo, and a purchase through the relay. */
export const demo = {
  brandId: '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
  domain: 'demo.example',
  user: 'alice@demo.example',
};

const eventId = '01a1f8bd-a91a-7cca-b14d-28b6ec24de14';
const walletAddress = '0x8e9e5ae3d52ba6a0d9c0b1d0e4f6e2fd3a1c7b55';
const transactionHash = '0x5b1d2f6c3a9e47d08b6fa1c2e3d4958677889900aabbccddeeff00112233445f';
const timestamp = '2030-01-01T12:00:00.000Z';

export const example = { eventId, walletAddress, transactionHash, timestamp };

export const rewardExample = {
  success: true,
  eventId,
  message: `Event recorded: 100 RWT on the way to ${walletAddress}`,
  rewardAmount: 100,
  rwtDistributed: 100,
  eventType: 'account_creation',
  brandId: demo.brandId,
  status: 'rewarded',
  walletCreated: true,
  walletAddress,
  transactionHash,
  reward: { amount: 100, eventType: 'account_creation', walletAddress, transactionHash },
};

/** A purchase of a perk, as the examples of the relay show it. */
export const relayExample = {
  token: '0x5fbdb2315678afecb367f032d93f642f64180aa3',
  perks: '0x9fe46736679d2d9a65f0992f2271de9f3c7fa6e0',
  user: '0x8e9e5ae3d52ba6a0d9c0b1d0e4f6e2fd3a1c7b55',
  gasWallet: '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
  hash: example.transactionHash as `0x${string}`,
} as const;
