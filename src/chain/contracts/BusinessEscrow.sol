// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {RewardToken} from "./RewardToken.sol";

/// @title Holds each brand's RWT and pays rewards from it, each sequence number at most once.
/// @notice The sum of all brand balances never exceeds the RWT this contract holds.
/// @dev Trust: a distributor can spend any brand's balance on rewards. A redemption operator can move a user's
/// RWT into a brand's balance. Only the brand itself can withdraw. An admin only grants and revokes roles.
/// The token never calls back, and all state is written before it is called.
contract BusinessEscrow is AccessControl {
    /// @notice May pay rewards from brand balances.
    bytes32 public constant DISTRIBUTOR_ROLE = keccak256("DISTRIBUTOR_ROLE");

    /// @notice May collect a user's RWT for a brand, once for each key.
    bytes32 public constant REDEMPTION_ROLE = keccak256("REDEMPTION_ROLE");

    /// @notice Why a reward was skipped: its sequence is paid already.
    uint8 public constant SKIPPED_ALREADY_PAID = 1;
    /// @notice Why a reward was skipped: the recipient is the zero address.
    uint8 public constant SKIPPED_ZERO_ADDRESS = 2;
    /// @notice Why a reward was skipped: the recipient is the token or this escrow.
    uint8 public constant SKIPPED_FORBIDDEN_RECIPIENT = 3;
    /// @notice Why a reward was skipped: the amount is zero.
    uint8 public constant SKIPPED_ZERO_AMOUNT = 4;
    /// @notice Why a reward was skipped: the brand's balance is too small.
    uint8 public constant SKIPPED_BRAND_BALANCE = 5;

    uint256 private constant BASE_BYTES = 8;
    uint256 private constant BRAND_BYTES = 21;
    uint256 private constant GROUP_BYTES = 4;
    uint256 private constant AMOUNT_BYTES_MAX = 8;
    uint256 private constant ENTRY_BYTES = 21;
    uint256 private constant TRANSFER_BYTES = 28;

    bytes32 private constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");

    /// @notice The reward token.
    RewardToken public immutable token;

    mapping(address brand => uint256) private _balances;
    mapping(uint256 index => uint256) private _paidWords;
    mapping(bytes32 key => bool) private _redeemed;

    /// @notice RWT came into a brand's balance.
    event Deposited(address indexed brand, address indexed from, uint256 amount);
    /// @notice A brand took RWT out of its balance.
    event Withdrawn(address indexed brand, uint256 amount);
    /// @notice One batch was processed: how many rewards it paid, and their sum.
    event Distributed(uint64 indexed base, uint256 count, uint256 total);
    /// @notice One reward of a batch was not paid. Unless already paid, its sequence stays free.
    event RewardSkipped(uint256 indexed sequence, uint8 reason);
    /// @notice A user's RWT was collected into a brand's balance.
    event Redeemed(bytes32 indexed key, address indexed brand, address indexed user, uint256 amount);
    /// @notice A redemption was asked for again. Nothing was collected.
    event AlreadyRedeemed(bytes32 indexed key);

    /// @notice The batch is empty, cut short or has bytes left over.
    error MalformedBatch();
    /// @notice The zero address cannot be a brand.
    error InvalidBrand();
    /// @notice The amount is zero.
    error ZeroAmount();
    /// @notice The brand has less than it wants to withdraw.
    error InsufficientBrandBalance(address brand, uint256 requested, uint256 balance);
    /// @notice The permit neither works now nor is the one the brand used last.
    error InvalidPermit();

    constructor(RewardToken token_, address admin) {
        token = token_;
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
    }

    /// @notice The RWT a brand can spend.
    function balanceOf(address brand) external view returns (uint256) {
        return _balances[brand];
    }

    /// @notice Whether the reward with this sequence number is paid.
    function isPaid(uint256 sequence) external view returns (bool) {
        return _paidWords[sequence >> 8] & (1 << (sequence & 255)) != 0;
    }

    /// @notice The paid flags of sequences `index * 256` to `index * 256 + 255`, lowest bit first.
    function paidWord(uint256 index) external view returns (uint256) {
        return _paidWords[index];
    }

    /// @notice Whether the redemption with this key is done.
    function isRedeemed(bytes32 key) external view returns (bool) {
        return _redeemed[key];
    }

    /// @notice Moves the caller's RWT, by allowance, into a brand's balance.
    function deposit(address brand, uint256 amount) external {
        _deposit(brand, msg.sender, amount);
    }

    /// @notice Moves a brand's own RWT into its balance by permit. Anyone may submit it.
    /// @dev A permit does not name a brand, so the signer is the brand. Someone may have submitted the permit
    /// before us; then it must be the one the brand used last, and the allowance must still be there.
    function depositWithPermit(address brand, uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
    {
        try token.permit(brand, address(this), amount, deadline, v, r, s) {}
        catch {
            if (!_isLastPermit(brand, amount, deadline, v, r, s)) revert InvalidPermit();
        }
        _deposit(brand, brand, amount);
    }

    /// @notice Moves RWT from the calling brand's balance to the brand's wallet.
    function withdraw(uint256 amount) external {
        uint256 balance = _balances[msg.sender];
        if (amount == 0) revert ZeroAmount();
        if (amount > balance) revert InsufficientBrandBalance(msg.sender, amount, balance);
        unchecked {
            _balances[msg.sender] = balance - amount;
        }
        emit Withdrawn(msg.sender, amount);
        token.transfer(msg.sender, amount);
    }

    /// @notice Pays a batch of rewards. A reward that cannot be paid is skipped and reported; the others are paid.
    /// @dev Layout, big endian: base sequence (8 bytes), then brands: brand (20), how many groups (1). The rewards of
    /// a group have one amount: first sequence minus base (2), how many rewards (1), length of the amount (1), amount
    /// (0 to 8), then for each reward: how many sequences lie between the one before and this (1), recipient (20).
    /// The first reward's sequence is the first sequence plus that number. All payments go to the token in one call.
    function distributePacked(bytes calldata batch) external onlyRole(DISTRIBUTOR_ROLE) {
        if (batch.length < BASE_BYTES + BRAND_BYTES + GROUP_BYTES + ENTRY_BYTES) revert MalformedBatch();
        Progress memory progress = Progress({
            base: uint64(bytes8(batch)),
            wordIndex: uint64(bytes8(batch)) >> 8,
            word: _paidWords[uint64(bytes8(batch)) >> 8],
            total: 0,
            length: 0,
            // As many as the batch can have, and room for the spare bytes that are written behind the last one.
            transfers: new bytes((batch.length / ENTRY_BYTES) * TRANSFER_BYTES + 32)
        });

        uint256 position = BASE_BYTES;
        while (position != batch.length) {
            if (batch.length - position < BRAND_BYTES) revert MalformedBatch();
            uint256 header = _word(batch, position);
            uint256 groups = uint8(header >> 88);
            if (groups == 0) revert MalformedBatch();
            position = _payBrand(progress, address(uint160(header >> 96)), groups, batch, position + BRAND_BYTES);
        }
        _paidWords[progress.wordIndex] = progress.word;

        bytes memory transfers = progress.transfers;
        uint256 transfersLength = progress.length;
        assembly ("memory-safe") {
            mstore(transfers, transfersLength)
        }
        emit Distributed(uint64(progress.base), transfersLength / TRANSFER_BYTES, progress.total);
        if (transfersLength != 0) token.transferBatch(transfers);
    }

    /// @notice Collects a user's RWT into a brand's balance, once for each key.
    /// @return True the first time; false when the key was used before, and then nothing happens.
    function redeem(bytes32 key, address brand, address user, uint256 amount)
        external
        onlyRole(REDEMPTION_ROLE)
        returns (bool)
    {
        if (_redeemed[key]) {
            emit AlreadyRedeemed(key);
            return false;
        }
        if (brand == address(0)) revert InvalidBrand();
        if (amount == 0) revert ZeroAmount();
        _redeemed[key] = true;
        _balances[brand] += amount;
        emit Redeemed(key, brand, user, amount);
        // The token refuses to collect from the collector, so this escrow's own RWT cannot be counted twice.
        token.collect(user, amount);
        return true;
    }

    /// @dev What a running batch has done so far.
    struct Progress {
        uint256 base;
        uint256 wordIndex;
        uint256 word;
        uint256 total;
        uint256 length;
        bytes transfers;
    }

    /// @dev Pays the groups of one brand from `position` on, and returns where they end. Bits of one bitmap word are
    /// kept on the stack until a reward needs another word.
    function _payBrand(
        Progress memory progress,
        address brand,
        uint256 groups,
        bytes calldata batch,
        uint256 position
    ) private returns (uint256) {
        uint256 available = _balances[brand];
        uint256 remaining = available;
        bytes memory transfers = progress.transfers;
        uint256 wordIndex = progress.wordIndex;
        uint256 word = progress.word;
        uint256 length = progress.length;
        // No overflow below: positions stay within the batch, sequences under 2^64 + 2^17, and what is paid never
        // exceeds `available`.
        unchecked {
            for (; groups != 0; --groups) {
                if (batch.length - position < GROUP_BYTES) revert MalformedBatch();
                uint256 header = _word(batch, position);
                uint256 sequence = progress.base + (header >> 240);
                uint256 count = uint8(header >> 232);
                uint256 amountBytes = uint8(header >> 224);
                if (count == 0 || amountBytes > AMOUNT_BYTES_MAX) revert MalformedBatch();
                // Without any byte the shift leaves nothing.
                uint256 amount = (header << 32) >> (256 - amountBytes * 8);
                position += GROUP_BYTES + amountBytes;
                uint256 end = position + count * ENTRY_BYTES;
                if (end > batch.length) revert MalformedBatch();
                for (; position != end; position += ENTRY_BYTES) {
                    uint256 entry = _word(batch, position);
                    sequence += entry >> 248;
                    address to = address(uint160(entry >> 88));
                    if (sequence >> 8 != wordIndex) {
                        _paidWords[wordIndex] = word;
                        wordIndex = sequence >> 8;
                        word = _paidWords[wordIndex];
                    }
                    uint256 bit = 1 << (sequence & 255);
                    uint8 reason = _refusal(word & bit != 0, to, amount, remaining);
                    if (reason != 0) {
                        emit RewardSkipped(sequence, reason);
                    } else {
                        word |= bit;
                        remaining -= amount;
                        // Recipient and amount, as the token wants them. The spare bytes behind are overwritten by
                        // the next transfer.
                        uint256 transfer_ = (uint256(uint160(to)) << 96) | (amount << 32);
                        assembly ("memory-safe") {
                            mstore(add(add(transfers, 32), length), transfer_)
                        }
                        length += TRANSFER_BYTES;
                    }
                    ++sequence;
                }
            }
            progress.total += available - remaining;
        }
        progress.wordIndex = wordIndex;
        progress.word = word;
        progress.length = length;
        if (remaining != available) _balances[brand] = remaining;
        return position;
    }

    /// @dev Why a reward cannot be paid, or zero.
    function _refusal(bool paid, address to, uint256 amount, uint256 remaining) private view returns (uint8) {
        if (paid) return SKIPPED_ALREADY_PAID;
        if (to == address(0)) return SKIPPED_ZERO_ADDRESS;
        if (to == address(this) || to == address(token)) return SKIPPED_FORBIDDEN_RECIPIENT;
        if (amount == 0) return SKIPPED_ZERO_AMOUNT;
        if (amount > remaining) return SKIPPED_BRAND_BALANCE;
        return 0;
    }

    function _deposit(address brand, address from, uint256 amount) private {
        if (brand == address(0)) revert InvalidBrand();
        if (amount == 0) revert ZeroAmount();
        _balances[brand] += amount;
        emit Deposited(brand, from, amount);
        token.transferFrom(from, address(this), amount);
    }

    /// @dev True if these are the values of the permit the owner used last, and its deadline is not over.
    function _isLastPermit(address owner, uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        private
        view
        returns (bool)
    {
        uint256 nonce = token.nonces(owner);
        if (nonce == 0 || block.timestamp > deadline) return false;
        bytes32 structHash =
            keccak256(abi.encode(PERMIT_TYPEHASH, owner, address(this), amount, nonce - 1, deadline));
        bytes32 digest = MessageHashUtils.toTypedDataHash(token.DOMAIN_SEPARATOR(), structHash);
        (address signer, ECDSA.RecoverError error_,) = ECDSA.tryRecover(digest, v, r, s);
        return error_ == ECDSA.RecoverError.NoError && signer == owner;
    }

    /// @dev The 32 bytes at a position; zeros or later calldata beyond the end, which callers shift away.
    function _word(bytes calldata data, uint256 position) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := calldataload(add(data.offset, position))
        }
    }
}
