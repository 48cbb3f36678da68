// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";

/// @title The reward token (RWT): whole units only, permit, transfer by authorization, capped minters.
/// @notice A transfer either happens or reverts. It never returns false and never calls the receiver.
/// @dev Trust: an admin names minters, their caps and the redeemer. A minter can mint up to its remaining cap.
/// The redeemer can move anyone's tokens to itself, without the holder's allowance no more than the collect cap in an
/// hour; the role is meant for BusinessEscrow alone, which uses it once for each redemption. Nobody can pause, freeze
/// or upgrade.
contract RewardToken is ERC20, ERC20Permit, ERC3009, AccessControl {
    /// @notice May mint, up to the remaining cap of the account.
    bytes32 public constant MINTER_ROLE = keccak256("MINTER_ROLE");

    /// @notice May collect tokens from any account into itself. For the escrow only.
    bytes32 public constant REDEEMER_ROLE = keccak256("REDEEMER_ROLE");

    uint256 private constant TRANSFER_BYTES = 28;

    /// @notice How long an hour of collections without allowance is.
    uint256 public constant COLLECT_WINDOW_SECONDS = 3600;

    mapping(address minter => uint256) private _minterCaps;

    /// @dev One slot: when the present hour began, what was collected in it without allowance, and the most that may be.
    struct Collecting {
        uint64 since;
        uint96 used;
        uint96 cap;
    }

    Collecting private _collecting;

    /// @notice The remaining cap of a minter was set by an admin.
    event MinterCapSet(address indexed minter, uint256 cap);

    /// @notice What may be collected in an hour without the holders' allowance was set by an admin.
    event CollectCapSet(uint96 cap);

    /// @notice Tokens were collected that their holder had given no allowance for.
    event CollectedWithoutAllowance(address indexed from, uint256 amount);

    /// @notice The minter asked for more than it may still mint.
    error MinterCapExceeded(address minter, uint256 requested, uint256 remaining);

    /// @notice More was asked for than may be collected without allowance until the hour is over.
    error CollectCapExceeded(uint256 requested, uint256 left, uint256 resetsAt);

    /// @notice The batch has bytes left over.
    error MalformedBatch();

    /// @notice A redeemer cannot collect from itself.
    error SelfCollect();

    constructor(address admin) ERC20("Reward Token", "RWT") ERC20Permit("Reward Token") {
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
    }

    /// @notice One RWT is the smallest unit.
    function decimals() public pure override returns (uint8) {
        return 0;
    }

    /// @notice Sets what a minter may still mint. The minter needs MINTER_ROLE too.
    function setMinterCap(address minter, uint256 cap) external onlyRole(DEFAULT_ADMIN_ROLE) {
        _minterCaps[minter] = cap;
        emit MinterCapSet(minter, cap);
    }

    /// @notice What a minter may still mint.
    function minterCap(address minter) external view returns (uint256) {
        return _minterCaps[minter];
    }

    /// @notice Mints tokens and takes them off the caller's cap.
    function mint(address to, uint256 amount) external onlyRole(MINTER_ROLE) {
        uint256 remaining = _minterCaps[msg.sender];
        if (amount > remaining) revert MinterCapExceeded(msg.sender, amount, remaining);
        unchecked {
            _minterCaps[msg.sender] = remaining - amount;
        }
        _mint(to, amount);
    }

    /// @notice Moves the caller's own tokens to many holders in one call.
    /// @param transfers 28 bytes for each holder: the address (20 bytes), then the amount (8, big endian).
    function transferBatch(bytes calldata transfers) external {
        if (transfers.length % TRANSFER_BYTES != 0) revert MalformedBatch();
        for (uint256 position = 0; position != transfers.length; position += TRANSFER_BYTES) {
            uint256 entry;
            assembly ("memory-safe") {
                entry := calldataload(add(transfers.offset, position))
            }
            _transfer(msg.sender, address(uint160(entry >> 96)), uint64(entry >> 32));
        }
    }

    /// @notice Sets what may be collected in an hour without the holders' allowance. At first it is nothing.
    function setCollectCap(uint96 cap) external onlyRole(DEFAULT_ADMIN_ROLE) {
        _collecting.cap = cap;
        emit CollectCapSet(cap);
    }

    /// @notice What may be collected in an hour without the holders' allowance, what is left of it now, and when all
    /// of it may be collected again.
    function collectCap() external view returns (uint256 cap, uint256 left, uint256 resetsAt) {
        Collecting memory collecting = _collecting;
        cap = collecting.cap;
        resetsAt = collecting.since + COLLECT_WINDOW_SECONDS;
        uint256 used = block.timestamp < resetsAt ? collecting.used : 0;
        left = used < cap ? cap - used : 0;
    }

    /// @notice Moves tokens of any account to the caller. Users hold no gas and need not be online to redeem.
    /// The holder's allowance to the caller is spent first; what goes beyond it counts against the cap of the hour.
    function collect(address from, uint256 amount) external onlyRole(REDEEMER_ROLE) {
        if (from == msg.sender) revert SelfCollect();
        uint256 allowed = allowance(from, msg.sender);
        if (allowed > amount) allowed = amount;
        if (allowed != 0) _spendAllowance(from, msg.sender, allowed);
        if (allowed != amount) _countCollected(from, amount - allowed);
        _transfer(from, msg.sender, amount);
    }

    function _countCollected(address from, uint256 amount) private {
        Collecting memory collecting = _collecting;
        if (block.timestamp >= collecting.since + COLLECT_WINDOW_SECONDS) {
            collecting.since = uint64(block.timestamp);
            collecting.used = 0;
        }
        uint256 left = collecting.used < collecting.cap ? collecting.cap - collecting.used : 0;
        if (amount > left) revert CollectCapExceeded(amount, left, collecting.since + COLLECT_WINDOW_SECONDS);
        collecting.used += uint96(amount);
        _collecting = collecting;
        emit CollectedWithoutAllowance(from, amount);
    }
}
