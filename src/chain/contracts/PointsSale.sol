// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {BusinessEscrow} from "./BusinessEscrow.sol";
import {RewardToken} from "./RewardToken.sol";

/// @title Mints RWT for payments, once for each payment key.
/// @dev Trust: an operator can mint up to the cap that the token's admin gave this contract. Both kinds of mint
/// share one set of keys. A used key is not an error: the call returns false, so that it can be sent again.
contract PointsSale is AccessControl {
    /// @notice May mint for payments.
    bytes32 public constant OPERATOR_ROLE = keccak256("OPERATOR_ROLE");

    /// @notice The reward token.
    RewardToken public immutable token;
    /// @notice The escrow for mints into a brand's balance.
    BusinessEscrow public immutable escrow;

    mapping(bytes32 key => bool) private _minted;

    /// @notice RWT was minted to an account.
    event Minted(bytes32 indexed key, address indexed to, uint256 amount);
    /// @notice RWT was minted into a brand's escrow balance.
    event MintedIntoEscrow(bytes32 indexed key, address indexed brand, uint256 amount);
    /// @notice The key was used before. Nothing was minted.
    event AlreadyMinted(bytes32 indexed key);

    /// @notice Tokens minted there would belong to nobody.
    error InvalidRecipient(address to);
    /// @notice The amount is zero.
    error ZeroAmount();

    constructor(RewardToken token_, BusinessEscrow escrow_, address admin) {
        token = token_;
        escrow = escrow_;
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
        // This contract holds RWT only within one mint, and the escrow takes it only when told to deposit.
        token_.approve(address(escrow_), type(uint256).max);
    }

    /// @notice Whether the payment with this key was minted, either way.
    function isMinted(bytes32 key) external view returns (bool) {
        return _minted[key];
    }

    /// @notice Mints RWT to an account for a payment.
    /// @return True the first time; false when the key was used before, and then nothing is minted.
    function mintForPayment(bytes32 key, address to, uint256 amount) external onlyRole(OPERATOR_ROLE) returns (bool) {
        if (to == address(0) || to == address(token) || to == address(escrow) || to == address(this)) {
            revert InvalidRecipient(to);
        }
        if (!_useKey(key, amount)) return false;
        emit Minted(key, to, amount);
        token.mint(to, amount);
        return true;
    }

    /// @notice Mints RWT into a brand's escrow balance for a payment.
    /// @return True the first time; false when the key was used before, and then nothing is minted.
    function mintIntoEscrow(bytes32 key, address brand, uint256 amount)
        external
        onlyRole(OPERATOR_ROLE)
        returns (bool)
    {
        if (!_useKey(key, amount)) return false;
        emit MintedIntoEscrow(key, brand, amount);
        token.mint(address(this), amount);
        escrow.deposit(brand, amount);
        return true;
    }

    function _useKey(bytes32 key, uint256 amount) private returns (bool) {
        if (_minted[key]) {
            emit AlreadyMinted(key);
            return false;
        }
        if (amount == 0) revert ZeroAmount();
        _minted[key] = true;
        return true;
    }
}
