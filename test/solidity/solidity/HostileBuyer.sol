// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessControl} from "@openzeppelin/contracts/access/IAccessControl.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";

/// @title A buyer's code that refuses the perk it is given, in one of many ways. Wallets delegate to it (EIP-7702).
contract HostileBuyer is ERC1155Holder {
    /// @notice How the perk is refused.
    enum Refusal {
        OwnError,
        Text,
        Silence,
        WrongAnswer,
        Panic,
        BurnedGas,
        WordsOfOurContracts,
        LongWords
    }

    Refusal private immutable _refusal;

    error NotToday(uint256 number);

    constructor(Refusal refusal) {
        _refusal = refusal;
    }

    function onERC1155Received(address operator, address, uint256, uint256, bytes memory)
        public
        view
        override
        returns (bytes4)
    {
        if (_refusal == Refusal.OwnError) revert NotToday(7);
        // What looks like ours, with characters that no database and no terminal should get.
        if (_refusal == Refusal.Text) revert(string(abi.encodePacked("PerkSoldOut(1)", hex"001b5b324a")));
        if (_refusal == Refusal.Panic) assert(false);
        // What the service waits for, since an admin can grant a role.
        if (_refusal == Refusal.WordsOfOurContracts) {
            revert IAccessControl.AccessControlUnauthorizedAccount(operator, bytes32(uint256(7)));
        }
        if (_refusal == Refusal.LongWords) {
            assembly ("memory-safe") {
                revert(0x80, 20000)
            }
        }
        if (_refusal == Refusal.BurnedGas) while (gasleft() > 0) {}
        if (_refusal == Refusal.Silence) {
            assembly ("memory-safe") {
                revert(0, 0)
            }
        }
        return bytes4(0xffffffff);
    }
}
