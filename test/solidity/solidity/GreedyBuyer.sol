// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";
import {PerkNFT} from "../../../src/chain/contracts/PerkNFT.sol";

/// @title A buyer that buys the same perk again while it is being given the first one.
contract GreedyBuyer is ERC1155Holder {
    PerkNFT private immutable _perks;

    constructor(PerkNFT perks, IERC20 token) {
        _perks = perks;
        token.approve(address(perks), type(uint256).max);
    }

    function buy(uint256 perkId, uint256 maxPrice) external {
        _perks.purchase(perkId, maxPrice);
    }

    function onERC1155Received(address operator, address from, uint256 perkId, uint256 value, bytes memory data)
        public
        override
        returns (bytes4)
    {
        uint256 price = _perks.perkOf(perkId).price;
        if (_perks.token().balanceOf(address(this)) >= price) _perks.purchase(perkId, price);
        return super.onERC1155Received(operator, from, perkId, value, data);
    }
}
