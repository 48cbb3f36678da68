create table accepted_nonces (
  lane text not null,
  from_nonce bigint not null,
  next_nonce bigint not null,
  accepted_by text not null,
  reason text not null,
  created_at bigint not null,
  primary key (lane, from_nonce)
);
