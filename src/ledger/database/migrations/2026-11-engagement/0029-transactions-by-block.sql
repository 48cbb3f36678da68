-- Of the transactions that are not final, those in no block and those in old blocks are found without reading all others.
create index transactions_by_block on transactions (block_number) where status <> 'final';
