// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title The yardstick for gas: a plain batch of ERC-20 transfers from the contract's own balance.
contract PlainBatch {
    function pay(IERC20 token, address[] calldata to, uint256[] calldata amounts) external {
        for (uint256 i = 0; i < to.length; ++i) {
            token.transfer(to[i], amounts[i]);
        }
    }
}
