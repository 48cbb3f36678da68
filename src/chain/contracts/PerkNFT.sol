// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {IERC20Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {BusinessEscrow} from "./BusinessEscrow.sol";
import {RewardToken} from "./RewardToken.sol";

/// @title Perks that are bought with RWT, or redeemed for it. The price goes into the brand's escrow balance.
/// @dev Trust: a perk admin sets prices, stocks and which brand is paid. A relayer can buy for a buyer who has
/// approved this contract, at no more than the price it names, or get anyone a free perk; nothing else.
/// Nobody else can buy for a buyer: a permit names neither perk nor brand and could be used for another perk.
/// A redeemer can spend any user's RWT on a perk, at no more than the price it names, once for each key; the escrow
/// collects it, which is why this contract needs its REDEMPTION_ROLE. Without the user's allowance to the escrow the
/// token has a cap for that, which its admin sets. Purchases and redemptions share one stock.
/// The buyer is called back (ERC-1155) only after stock and payment are settled.
contract PerkNFT is ERC1155, AccessControl {
    /// @notice May configure perks.
    bytes32 public constant PERK_ADMIN_ROLE = keccak256("PERK_ADMIN_ROLE");

    /// @notice May submit purchases for buyers. A gas wallet needs no other role and no tokens.
    bytes32 public constant RELAYER_ROLE = keccak256("RELAYER_ROLE");

    /// @notice May redeem perks for users, who need neither gas nor an allowance.
    bytes32 public constant REDEEMER_ROLE = keccak256("REDEEMER_ROLE");

    /// @notice A stock that never runs out.
    uint256 public constant UNLIMITED_STOCK = type(uint256).max;

    /// @notice What a perk costs, how many are left, and whose escrow balance is paid.
    struct Perk {
        uint256 price;
        uint256 stock;
        address brand;
        bool active;
    }

    /// @notice A buyer's permit of `value` to the escrow.
    struct Permit {
        uint256 value;
        uint256 deadline;
        uint8 v;
        bytes32 r;
        bytes32 s;
    }

    /// @notice The reward token.
    RewardToken public immutable token;
    /// @notice The escrow that receives payments.
    BusinessEscrow public immutable escrow;

    mapping(uint256 perkId => Perk) private _perks;
    mapping(bytes32 key => bool) private _redeemed;

    /// @notice A perk was configured.
    event PerkSet(uint256 indexed perkId, address indexed brand, uint256 price, uint256 stock, bool active);
    /// @notice A perk was bought.
    event PerkPurchased(uint256 indexed perkId, address indexed buyer, address indexed brand, uint256 price);
    /// @notice A perk was redeemed: the escrow has collected its price from the buyer.
    event PerkRedeemed(
        bytes32 indexed key, uint256 indexed perkId, address indexed buyer, address brand, uint256 price
    );
    /// @notice A redemption was asked for again. Nothing happened.
    event AlreadyRedeemed(bytes32 indexed key);

    /// @notice The perk does not exist or is not on sale.
    error PerkNotActive(uint256 perkId);
    /// @notice None is left.
    error PerkSoldOut(uint256 perkId);
    /// @notice The perk costs more than the buyer agreed to.
    error PriceAboveMaximum(uint256 perkId, uint256 price, uint256 maxPrice);
    /// @notice The caller is neither the buyer nor a relayer.
    error NotBuyerOrRelayer(address caller, address buyer);
    /// @notice A perk needs a brand to pay.
    error InvalidBrand();
    /// @notice More should be taken off the stock than is left, or the stock is unlimited.
    error StockNotChangeable(uint256 perkId, uint256 stock, int256 change);
    /// @notice The escrow has collected under this key already, and not for this redemption.
    error KeyUsedInEscrow(bytes32 key);

    constructor(RewardToken token_, BusinessEscrow escrow_, address admin, string memory uri_) ERC1155(uri_) {
        token = token_;
        escrow = escrow_;
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
        // This contract holds RWT only within one purchase, and the escrow takes it only when told to deposit.
        token_.approve(address(escrow_), type(uint256).max);
    }

    /// @notice Creates a perk or replaces its terms. `stock` is the number left to sell.
    function setPerk(uint256 perkId, uint256 price, uint256 stock, address brand, bool active)
        external
        onlyRole(PERK_ADMIN_ROLE)
    {
        if (brand == address(0)) revert InvalidBrand();
        _perks[perkId] = Perk({price: price, stock: stock, brand: brand, active: active});
        emit PerkSet(perkId, brand, price, stock, active);
    }

    /// @notice Replaces the terms of a perk and leaves its stock, so that sales that happen meanwhile are not lost.
    function setPerkTerms(uint256 perkId, uint256 price, address brand, bool active)
        external
        onlyRole(PERK_ADMIN_ROLE)
    {
        if (brand == address(0)) revert InvalidBrand();
        uint256 stock = _perks[perkId].stock;
        _perks[perkId] = Perk({price: price, stock: stock, brand: brand, active: active});
        emit PerkSet(perkId, brand, price, stock, active);
    }

    /// @notice Adds to what is left of a perk, or takes off it, whatever is sold meanwhile.
    function changeStock(uint256 perkId, int256 change) external onlyRole(PERK_ADMIN_ROLE) {
        Perk storage perk = _perks[perkId];
        uint256 stock = perk.stock;
        if (stock == UNLIMITED_STOCK) revert StockNotChangeable(perkId, stock, change);
        uint256 left;
        if (change < 0) {
            uint256 taken = uint256(-change);
            if (taken > stock) revert StockNotChangeable(perkId, stock, change);
            left = stock - taken;
        } else {
            left = stock + uint256(change);
        }
        perk.stock = left;
        emit PerkSet(perkId, perk.brand, perk.price, left, perk.active);
    }

    /// @notice The terms of a perk; all zero if it was never set.
    function perkOf(uint256 perkId) external view returns (Perk memory) {
        return _perks[perkId];
    }

    /// @notice Buys one perk for the caller, paid by allowance.
    function purchase(uint256 perkId, uint256 maxPrice) external {
        _purchase(msg.sender, perkId, maxPrice);
    }

    /// @notice Buys one perk for a buyer, paid by the buyer's allowance. For the buyer or a relayer.
    function purchaseFor(address buyer, uint256 perkId, uint256 maxPrice) external {
        _checkCaller(buyer);
        _purchase(buyer, perkId, maxPrice);
    }

    /// @notice Buys one perk for a buyer who signed a permit of `maxPrice` to this contract.
    /// For the buyer or a relayer.
    /// @dev Anyone may have submitted the permit before us. It then fails here, and the allowance it left pays.
    function purchaseWithPermit(
        address buyer,
        uint256 perkId,
        uint256 maxPrice,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        _checkCaller(buyer);
        try token.permit(buyer, address(this), maxPrice, deadline, v, r, s) {} catch {}
        _purchase(buyer, perkId, maxPrice);
    }

    /// @notice Redeems one perk for a buyer, once for each key: the escrow collects the price from the buyer.
    /// @return True the first time; false when the key was used before, and then nothing happens.
    function redeem(bytes32 key, address buyer, uint256 perkId, uint256 maxPrice)
        external
        onlyRole(REDEEMER_ROLE)
        returns (bool)
    {
        return _redeem(key, buyer, perkId, maxPrice);
    }

    /// @notice The same, paid by the buyer's permit to the escrow: the token's cap does not count it.
    /// @dev Anyone may have submitted the permit before us. It then fails here, and the allowance it left pays.
    function redeemWithPermit(bytes32 key, address buyer, uint256 perkId, uint256 maxPrice, Permit calldata permit)
        external
        onlyRole(REDEEMER_ROLE)
        returns (bool)
    {
        if (!_redeemed[key]) {
            try token.permit(
                buyer, address(escrow), permit.value, permit.deadline, permit.v, permit.r, permit.s
            ) {} catch {}
            uint256 allowed = token.allowance(buyer, address(escrow));
            if (allowed < maxPrice) {
                revert IERC20Errors.ERC20InsufficientAllowance(address(escrow), allowed, maxPrice);
            }
        }
        return _redeem(key, buyer, perkId, maxPrice);
    }

    /// @notice Whether the redemption with this key is done.
    function isRedeemed(bytes32 key) external view returns (bool) {
        return _redeemed[key];
    }

    /// @inheritdoc ERC1155
    function supportsInterface(bytes4 interfaceId) public view override(ERC1155, AccessControl) returns (bool) {
        return super.supportsInterface(interfaceId);
    }

    function _redeem(bytes32 key, address buyer, uint256 perkId, uint256 maxPrice) private returns (bool) {
        if (_redeemed[key]) {
            emit AlreadyRedeemed(key);
            return false;
        }
        _redeemed[key] = true;
        (address brand, uint256 price) = _takeFromStock(perkId, maxPrice);
        emit PerkRedeemed(key, perkId, buyer, brand, price);
        if (price != 0 && !escrow.redeem(key, brand, buyer, price)) revert KeyUsedInEscrow(key);
        _mint(buyer, perkId, 1, "");
        return true;
    }

    function _checkCaller(address buyer) private view {
        if (msg.sender != buyer && !hasRole(RELAYER_ROLE, msg.sender)) revert NotBuyerOrRelayer(msg.sender, buyer);
    }

    function _purchase(address buyer, uint256 perkId, uint256 maxPrice) private {
        (address brand, uint256 price) = _takeFromStock(perkId, maxPrice);
        emit PerkPurchased(perkId, buyer, brand, price);
        if (price != 0) {
            token.transferFrom(buyer, address(this), price);
            escrow.deposit(brand, price);
        }
        _mint(buyer, perkId, 1, "");
    }

    /// @dev Checks that the perk can be had for this price, and takes one off its stock.
    function _takeFromStock(uint256 perkId, uint256 maxPrice) private returns (address brand, uint256 price) {
        Perk storage perk = _perks[perkId];
        if (!perk.active) revert PerkNotActive(perkId);
        price = perk.price;
        if (price > maxPrice) revert PriceAboveMaximum(perkId, price, maxPrice);
        uint256 stock = perk.stock;
        if (stock == 0) revert PerkSoldOut(perkId);
        if (stock != UNLIMITED_STOCK) perk.stock = stock - 1;
        brand = perk.brand;
    }
}
